select
    coalesce((select sum(amount) from {schema}.entry
        where credit = %(account)s and currency = %(currency)s and at_ms < %(from_ms)s), 0)
    - coalesce((select sum(amount) from {schema}.entry
        where debit = %(account)s and currency = %(currency)s and at_ms < %(from_ms)s), 0) as balance
