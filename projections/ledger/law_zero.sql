select currency, sum(balance) from {schema}.balance group by currency having sum(balance) <> 0 order by currency
