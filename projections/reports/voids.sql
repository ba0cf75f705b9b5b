-- {schema} is the hands'.
select
    h.ended_ms, h.hand_id::text, h.table_id::text, h.currency, h.game, h.void_cause as cause, h.void_reason as reason,
    (select count(*) from {schema}.hand_player p where p.hand_id = h.hand_id) as players
from {schema}.hand h
where h.ending = 'voided' and h.ended_ms >= %(from_ms)s and h.ended_ms < %(to_ms)s
    and (h.ended_ms, h.hand_id) > (%(ended_ms)s, %(hand_id)s::uuid)
order by h.ended_ms, h.hand_id
limit %(limit)s
