-- {schema} is the hands'.
select
    h.ended_ms, h.hand_id::text, h.table_id::text, h.currency, p.seat, p.player, p.status, p.fine_due as due, p.fine_paid as paid
from {schema}.hand_player p
join {schema}.hand h on h.hand_id = p.hand_id
where p.fine_due > p.fine_paid and h.ended_ms >= %(from_ms)s and h.ended_ms < %(to_ms)s
    and (h.ended_ms, h.hand_id, p.seat) > (%(ended_ms)s, %(hand_id)s::uuid, %(seat)s)
order by h.ended_ms, h.hand_id, p.seat
limit %(limit)s
