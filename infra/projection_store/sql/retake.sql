delete from projection.parked
where name = %(name)s and version = %(version)s and stream = %(stream)s and seq = %(seq)s
