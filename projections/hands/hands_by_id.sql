select
    h.hand_id::text, h.table_id::text, h.hand_no, h.game, h.rules, h.currency, h.stake, h.dealer, h.commitment,
    h.started_ms, h.first_seq, h.ended_ms, h.last_seq, h.ending, h.bank, h.carried_bank, h.void_cause, h.void_reason,
    h.disclosed_to,
    (
        select json_agg(json_build_object(
            'seat', p.seat, 'player', p.player, 'purse_before', p.purse_before, 'status', p.status, 'tricks', p.tricks,
            'share', p.share, 'commission', p.commission, 'fine_due', p.fine_due, 'fine_paid', p.fine_paid,
            'purse_after', p.purse_after
        ) order by p.seat)
        from {schema}.hand_player p
        where p.hand_id = h.hand_id
    ) as players
from {schema}.hand h
where h.hand_id = any(%(hand_ids)s::uuid[])
