with side as (
    select debit as account, currency, part, -amount as amount from {schema}.entry
    union all
    select credit, currency, part, amount from {schema}.entry
), summed as (
    select account, currency, part, sum(amount) as entries from side group by account, currency, part
)
select account, currency, part, coalesce(b.balance, 0) as balance, coalesce(s.entries, 0) as entries
from summed s
full join {schema}.balance b using (account, currency, part)
where coalesce(b.balance, 0) <> coalesce(s.entries, 0)
order by account, currency, part
