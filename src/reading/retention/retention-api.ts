import * as s from '../../requests/http/schema.ts'
import { keptForSchema } from '../../streams/data-streams/definition-schemas.ts'

const members = {
  raw: { ...s.nullable(keptForSchema), description: 'Readings. Null: for ever.' },
  aggregated: { ...s.nullable(keptForSchema), description: 'Results of windows. Null: for ever.' },
}

export const vaultRetentionSchema = s.component('VaultRetention', s.record(members))

export const vaultRetentionChangeSchema = s.component(
  'VaultRetentionChange',
  s.partial(members, { examples: [{ raw: '30d' }] }),
)
