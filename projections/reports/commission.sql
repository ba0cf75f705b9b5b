-- {schema} is the ledger's. Days are of UTC.
select day, stream, currency, hands, amount
from (
    select (at_ms / 86400000)::bigint as day, stream, currency, count(distinct hand_id) as hands, sum(amount) as amount
    from {schema}.entry
    where credit = 'house:commission' and at_ms >= %(from_ms)s and at_ms < %(to_ms)s
    group by 1, 2, 3
) found
where (day, stream, currency) > (%(day)s, %(stream)s collate "C", %(currency)s collate "C")
order by day, stream, currency
limit %(limit)s
