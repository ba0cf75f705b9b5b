select
    case when account like 'house:%%' then account else split_part(account, ':', 1) end as kind,
    currency,
    count(distinct account) as accounts,
    sum(balance) as balance
from {schema}.balance
group by 1, 2
order by 2, 1
