import { component, idParams, nullable, partial, record } from '../../requests/http/schema.ts'
import { keptForSchema } from '../../streams/data-streams/definition-schemas.ts'

const members = {
  raw: { ...nullable(keptForSchema), description: 'Readings. Null: for ever.' },
  aggregated: { ...nullable(keptForSchema), description: 'Results of windows. Null: for ever.' },
}

const vaultRetentionSchema = component('VaultRetention', record(members))

export const readVaultRetention = {
  operationId: 'readVaultRetention',
  summary: 'Read how long the data of the streams of a vault is kept.',
  description: 'For those that say nothing themselves, in `processing.retention`.',
  tags: ['Vaults'],
  params: idParams('vaultId'),
  response: { 200: vaultRetentionSchema },
} as const

export const changeVaultRetention = {
  operationId: 'changeVaultRetention',
  summary: 'Change how long the data of the streams of a vault is kept.',
  description:
    'What is not sent stays; null takes it away. It holds for what is stored already: what is too old is removed soon, and cannot be brought back.',
  tags: ['Vaults'],
  params: idParams('vaultId'),
  body: component('VaultRetentionChange', partial(members, { examples: [{ raw: '30d' }] })),
  response: { 200: vaultRetentionSchema },
} as const
