insert into projection.stopped (part, pos, reason, since_ms)
values (%s, %s, %s, %s)
on conflict (part) do update set pos = excluded.pos, reason = excluded.reason
