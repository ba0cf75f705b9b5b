-- Each side has its own index in the order of the page, so no more rows are read than shown, whatever the account's length.
with side as (
    (
        select at_ms, part, pos, n, stream, seq, hand_id, clause, credit as other, -amount as change
        from {schema}.entry
        where debit = %(account)s and currency = %(currency)s and at_ms < %(to_ms)s
            and (at_ms, part, pos, n) > (%(at_ms)s, %(part)s, %(pos)s, %(n)s)
        order by at_ms, part, pos, n
        limit %(limit)s
    )
    union all
    (
        select at_ms, part, pos, n, stream, seq, hand_id, clause, debit as other, amount as change
        from {schema}.entry
        where credit = %(account)s and currency = %(currency)s and at_ms < %(to_ms)s
            and (at_ms, part, pos, n) > (%(at_ms)s, %(part)s, %(pos)s, %(n)s)
        order by at_ms, part, pos, n
        limit %(limit)s
    )
)
select at_ms, part, pos, n, stream, seq, coalesce(hand_id::text, '') as hand_id, clause, other, change
from side
order by at_ms, part, pos, n
limit %(limit)s
