-- {schema} is the ledger's.
select account, currency, sum(balance)::bigint as amount
from {schema}.balance
where account like 'bank:%%' and (account, currency) > (%(account)s collate "C", %(currency)s collate "C")
group by account, currency
having sum(balance) <> 0
order by account, currency
limit %(limit)s
