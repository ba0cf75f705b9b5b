select currency, sum(hands) as hands, sum(net) as net
from {schema}.result
where player = %(player)s
group by currency
order by currency
