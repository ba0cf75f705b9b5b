select d.dispute_id::text
from {schema}.dispute d
join dispute.key k on k.dispute_id = d.dispute_id
where d.erased and k.wrapped is not null
order by d.dispute_id
