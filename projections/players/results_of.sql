select currency, sum(hands)::bigint as hands, sum(net)::bigint as net
from {schema}.result
where player = %(player)s
group by currency
order by currency
