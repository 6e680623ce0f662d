import { create, createFileRegistry, type DescMessage, toBinary } from '@bufbuild/protobuf'
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt'

/** As much of a field as tests say of it. */
type Field = Parameters<typeof field>[3]

/** A field of a .proto file: `type name = number`. */
export function field(
  type: keyof typeof Type,
  name: string,
  number: number,
  rest: {
    readonly isRepeated?: boolean
    readonly required?: boolean
    readonly typeName?: string
    readonly proto3Optional?: boolean
    readonly oneofIndex?: number
    readonly options?: { readonly packed: boolean }
  } = {},
) {
  const { isRepeated = false, required = false, ...others } = rest
  const optional = required ? Label.REQUIRED : Label.OPTIONAL
  return {
    name,
    number,
    type: Type[type],
    label: isRepeated ? Label.REPEATED : optional,
    ...others,
  }
}

export function repeated(type: keyof typeof Type, name: string, number: number, rest: Field = {}) {
  return field(type, name, number, { ...rest, isRepeated: true })
}

/** A map field, and the type of its entries, which has to stand beside it. */
export function mapField(
  name: string,
  number: number,
  value: ReturnType<typeof field>,
  key: keyof typeof Type = 'STRING',
) {
  const entry = `${(name[0] ?? '').toUpperCase()}${name.slice(1)}Entry`
  return {
    field: (parent: string) =>
      repeated('MESSAGE', name, number, { typeName: `.${parent}.${entry}` }),
    type: {
      name: entry,
      field: [field(key, 'key', 1), value],
      options: { mapEntry: true },
    },
  }
}

type File = Partial<
  Omit<FileDescriptorProto, '$typeName' | '$unknown' | 'messageType' | 'enumType'>
> & {
  readonly messageType?: readonly object[]
  readonly enumType?: readonly object[]
}

/** What `protoc --include_imports --descriptor_set_out` would write of a file. */
export function descriptorOf(file: File): Uint8Array {
  const described = create(FileDescriptorProtoSchema, {
    name: 'test.proto',
    syntax: 'proto3',
    dependency: ['google/protobuf/timestamp.proto', 'google/protobuf/wrappers.proto'],
    ...file,
  } as never)
  const imports = [file_google_protobuf_timestamp, file_google_protobuf_wrappers]
  const set = { file: [...imports.map(({ proto }) => proto), described] }
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, set))
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

/** Writes messages with the library, as a device would. */
export function encoderOf(file: File, typeName: string): (message: object) => Uint8Array {
  const described = create(FileDescriptorProtoSchema, {
    name: 'test.proto',
    syntax: 'proto3',
    dependency: ['google/protobuf/timestamp.proto', 'google/protobuf/wrappers.proto'],
    ...file,
  } as never)
  const registry = createFileRegistry(described, (name) =>
    [file_google_protobuf_timestamp, file_google_protobuf_wrappers].find(
      (known) => known.proto.name === name,
    ),
  )
  const message = registry.getMessage(typeName) as DescMessage
  return (value) => toBinary(message, create(message, value as never))
}
