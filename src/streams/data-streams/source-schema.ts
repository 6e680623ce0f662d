import { sourceKinds } from '../../../connectors/sources.ts'
import { type Fields, schemaOf } from '../../contracts/definitions/fields.ts'
import type { SourceKind } from '../../contracts/definitions/source-kind.ts'
import { component, typed } from '../../requests/http/schema.ts'
import { fieldsOf, refusedKeys } from './source.ts'

/**
 * A kind of source as the document has it. The shapes are told apart by their protocols, so one of which the protocol
 * need not be said is two: with it, and without.
 */
function shapesOf(kind: SourceKind) {
  const refused = refusedKeys(kind)
  const fields = Object.entries(fieldsOf(kind, kind.protocols))
  const { protocol, ...others } = Object.fromEntries(fields.filter(([key]) => !refused.has(key)))
  if (protocol === undefined) return [shapeOf(kind.name, others)]
  const whole = shapeOf(kind.name, { protocol: { ...protocol, isRequired: true }, ...others })
  return protocol.isRequired === true ? [whole] : [whole, shapeOf(`${kind.name}Unnamed`, others)]
}

function shapeOf(name: string, fields: Fields) {
  return component(name, typed<object>(schemaOf(fields)))
}

/** Where readings come from, as somebody defines it: the parser of definitions is what checks it. */
export const sourceSchema = component(
  'Source',
  typed<object>({
    description:
      'Where readings come from. The type of the stream says which of these it can be, and `protocol` which one it is.',
    oneOf: sourceKinds.flatMap(shapesOf),
  }),
)
