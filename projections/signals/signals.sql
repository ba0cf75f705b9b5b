with counted as (
    select
        kind, player, other, currency, sum(times) as times, sum(chances) as chances, sum(amount) as amount,
        sum(won) as won, sum(time_bank_ms) as time_bank_ms, sum(by_ops) as by_ops
    from {schema}.tally
    where (%(kind)s::text is null or kind = %(kind)s) and (%(player)s::text is null or player = %(player)s or other = %(player)s)
    group by kind, player, other, currency
), own as (
    select player, currency, sum(hands) as hands
    from {schema}.played
    group by player, currency
), weighed as (
    select
        c.kind, c.player, c.other, c.currency, o.hands, c.times,
        case c.kind when 'voided' then o.hands else c.chances end as chances,
        c.amount, c.won, c.time_bank_ms, c.by_ops, case c.kind when 'pair' then c.amount - c.won else c.times end as weight
    from counted c
    join own o on o.player = c.player and o.currency = c.currency
    where case c.kind
        when 'pair' then
            c.chances >= %(pair_hands)s and 2 * c.chances >= o.hands and c.amount > 0
            and c.amount::numeric >= %(pair_times_won)s * c.won::numeric
        when 'dumped' then c.times >= %(dumped_tricks)s and 2 * c.times >= c.chances
        when 'clock' then c.times >= %(clock_decisions)s and %(clock_one_in)s * c.times >= c.chances
        when 'short_purse' then c.times >= %(short_hands)s and %(short_one_in)s * c.times >= c.chances
        when 'voided' then c.times >= %(voided_hands)s or c.by_ops > 0
    end
), page as (
    select *
    from weighed
    where (kind, -weight, player, other, currency)
        > (%(after_kind)s collate "C", -(%(weight)s::numeric), %(after_player)s collate "C", %(other)s collate "C", %(currency)s collate "C")
    order by kind, -weight, player, other, currency
    limit %(limit)s
)
select
    p.kind, p.player, nullif(p.other, '') as other, p.currency, p.hands, p.times, p.chances, p.amount, p.won, p.time_bank_ms,
    p.by_ops, p.weight,
    (
        select count(*)
        from {schema}.rests_on r
        where (r.kind, r.player, r.other, r.currency) = (p.kind, p.player, p.other, p.currency)
    ) as hands_seen,
    (
        select coalesce(json_agg(r order by r.ended_ms desc, r.hand_id desc), '[]')
        from (
            select r.hand_id, r.table_id, r.ended_ms, r.times, r.amount
            from {schema}.rests_on r
            where (r.kind, r.player, r.other, r.currency) = (p.kind, p.player, p.other, p.currency)
            order by r.ended_ms desc, r.hand_id desc
            limit %(newest)s
        ) r
    ) as rests_on
from page p
order by p.kind, -p.weight, p.player, p.other, p.currency
