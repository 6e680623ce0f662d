import { field, mapField, repeated } from './protobuf-messages.ts'

const limits = mapField('limits', 17, field('DOUBLE', 'value', 2))
const codes = mapField('codes', 18, field('STRING', 'value', 2), 'INT64')

/** A .proto file with fields of all kinds. */
export const plantFile = {
  package: 'plant',
  messageType: [
    {
      name: 'Reading',
      field: [
        field('DOUBLE', 'temperature', 1),
        field('FLOAT', 'level', 2),
        field('INT32', 'i32', 3),
        field('INT64', 'i64', 4),
        field('UINT32', 'u32', 5),
        field('UINT64', 'u64', 6),
        field('SINT32', 's32', 7),
        field('SINT64', 's64', 8),
        field('FIXED32', 'f32', 9),
        field('SFIXED64', 'sf64', 10),
        field('BOOL', 'open', 11),
        field('STRING', 'note', 12),
        field('BYTES', 'raw', 13),
        field('ENUM', 'state', 14, { typeName: '.plant.State' }),
        field('MESSAGE', 'inner', 15, { typeName: '.plant.Reading' }),
        repeated('DOUBLE', 'values', 16),
        limits.field('plant.Reading'),
        codes.field('plant.Reading'),
        field('MESSAGE', 'timestamp', 19, { typeName: '.google.protobuf.Timestamp' }),
        field('DOUBLE', 'maybe', 20, { proto3Optional: true, oneofIndex: 1 }),
        field('STRING', 'one', 21, { oneofIndex: 0 }),
        field('INT32', 'other', 22, { oneofIndex: 0 }),
        repeated('STRING', 'names', 23),
        repeated('INT32', 'unpacked', 24, { options: { packed: false } }),
        field('MESSAGE', 'wrapped', 25, { typeName: '.google.protobuf.DoubleValue' }),
        repeated('ENUM', 'states', 26, { typeName: '.plant.State' }),
        field('FIXED64', 'f64', 27),
        field('SFIXED32', 'sf32', 28),
      ],
      oneofDecl: [{ name: 'choice' }, { name: '_maybe' }],
      nestedType: [limits.type, codes.type],
    },
    {
      name: 'Small',
      field: [field('INT64', 'at', 1), field('DOUBLE', 'temperature', 2)],
    },
  ],
  enumType: [
    {
      name: 'State',
      value: [
        { name: 'OFF', number: 0 },
        { name: 'ON', number: 1 },
        { name: 'RUNNING', number: 1 },
      ],
      options: { allowAlias: true },
    },
  ],
}

/** What a message without anything in it is: proto3 does not write zeros. */
export const zeros = {
  temperature: 0,
  level: 0,
  i32: 0,
  i64: 0,
  u32: 0,
  u64: 0,
  s32: 0,
  s64: 0,
  f32: 0,
  sf64: 0,
  f64: 0,
  sf32: 0,
  open: false,
  note: '',
  raw: '',
  state: 'OFF',
  values: [],
  limits: {},
  codes: {},
  names: [],
  unpacked: [],
  states: [],
}
