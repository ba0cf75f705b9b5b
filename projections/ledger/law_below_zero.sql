-- A table's accounts are moved by its own stream alone, so this holds wherever the other parts stand.
select account, currency, sum(balance)
from {schema}.balance
where account like 'purse:%' or account like 'bank:%'
group by account, currency
having sum(balance) < 0
order by account, currency
