select account, currency, sum(balance) as balance
from {schema}.balance
where account like 'transit:%%'
group by account, currency
having sum(balance) <> 0
order by account, currency
