insert into projection.parked (name, version, stream, part, seq, code, reason, since_ms)
values (%(name)s, %(version)s, %(stream)s, %(part)s, %(seq)s, %(code)s, %(reason)s, %(since_ms)s)
