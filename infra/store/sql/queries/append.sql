select item, verdict, stream_id, actual from store.append(
  $1::int[], $2::smallint[], $3::text[], $4::bigint[], $5::int[], $6::bytea[], $7::bytea[],
  $8::int[], $9::smallint[], $10::text[], $11::bigint[], $12::uuid[], $13::smallint[], $14::text[],
  $15::smallint[], $16::bytea[], $17::bytea[], $18::bytea[]
)
