import type { FieldType } from '../../contracts/stream-schema.ts'
import { compareText } from '../../core/canonical-json.ts'
import type {
  AggregatedField,
  AggregateFunction,
} from '../../storage/time-series/aggregate-query.ts'
import { columnTypeOf } from '../../storage/time-series/shape.ts'
import type { WindowDefinition } from '../../storage/time-series/windows/window-store.ts'
import { heldUs, windowUs } from '../../streams/data-streams/deduplication.ts'
import type { VersionedDefinition } from '../../streams/data-streams/definition.ts'
import { storedFieldsOf } from '../../streams/data-streams/transform-definition.ts'

const functions: Readonly<Record<string, AggregateFunction>> = {
  average: 'avg',
  latest: 'latest',
  min: 'min',
  max: 'max',
  sum: 'sum',
  count: 'count',
}

/**
 * Whether a definition has windows: both a frequency and an aggregation make them
 * (decisions.md#windows).
 */
export function hasWindows({ frequency, aggregation }: VersionedDefinition['processing']): boolean {
  return typeof frequency === 'string' && typeof aggregation === 'string'
}

/**
 * The windows that a definition asks for, if it has any. Numbers are aggregated as it says; of everything
 * else the latest value counts.
 */
export function definedWindows(
  definition: Pick<VersionedDefinition, 'schema' | 'processing'>,
): WindowDefinition | undefined {
  const { processing } = definition
  if (!hasWindows(processing)) return undefined
  const chosen = functions[String(processing['aggregation'])] ?? 'latest'
  const fields = Object.entries(storedFieldsOf(definition))
    .sort(([left], [right]) => compareText(left, right))
    .map(([name, { type }]): AggregatedField => {
      const isNumber = type === 'number' || type === 'integer'
      return fieldOf(name, type, isNumber ? chosen : 'latest')
    })
  const holdUs = chosen === 'avg' ? heldUs(processing) : undefined
  return { widthUs: windowUs(processing), fields, ...(holdUs !== undefined && { holdUs }) }
}

function fieldOf(name: string, type: FieldType, chosen: AggregateFunction): AggregatedField {
  return { key: name, name, type: columnTypeOf(type), function: chosen }
}
