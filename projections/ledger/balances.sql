select account, currency, sum(balance) as balance
from {schema}.balance
where account = any(%(accounts)s)
group by account, currency
order by account, currency
