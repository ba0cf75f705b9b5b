-- Positions and balances in one statement, so that both are of the same moment.
select '' as account, '' as currency, c.part, c.pos as amount
from projection.checkpoint c
where c.schema_name = %(schema)s
union all
select account, currency, part, balance
from {schema}.balance
