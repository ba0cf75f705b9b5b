-- Into how many parts the streams are hashed: one row, written once. Changing it would move every stream.
create table store.layout (
  parts int not null check (parts between 1 and 32767)
);
insert into store.layout (parts) values (current_setting('khrap.parts')::int);
