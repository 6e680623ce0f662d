import type { Static } from 'typebox'
import type { TemplateId } from '../../core/ids.ts'
import { ledgers } from '../../core/ledger.ts'
import * as s from '../../requests/http/schema.ts'
import { twoListsParameters } from '../../requests/operations/two-lists.ts'
import { assetStreamSchema } from '../asset-streams/asset-stream-api.ts'
import {
  failureSchema,
  ledgerSchema,
  progressSchema,
  statusSchema,
} from '../progress/progress-api.ts'
import type { NewVault } from './vault.ts'

/** A page of a list has a hundred of them: together they must fit into one answer. */
const payloadLengthMax = 65_536

const name = { ...s.text, minLength: 1, maxLength: 200, examples: ['boiler 7'] }
const description = s.nullable({ ...s.text, maxLength: 10_000 })

export const vaultsQuery = s.query({
  ...twoListsParameters,
  contains: {
    ...s.text,
    minLength: 1,
    maxLength: 200,
    description:
      'A part of the name, in any case, or the beginning of the id: 4 characters of it, or more.',
  },
})

export const vaultSchema = s.component(
  'Vault',
  s.record({
    id: s.uuid,
    created_at: s.dateTime,
    name: { ...s.text, examples: ['boiler 7'] },
    description: s.nullable(s.text),
    template_id: s.uuid,
    status: statusSchema,
    ledger: ledgerSchema,
    tx_hash: s.text,
    nft_network_issuer: s.text,
    nft_network_owner: s.text,
    nft_network_id: s.text,
    cid: s.text,
    image_cid: { ...s.text, description: 'Of an image of its own.' },
    default_image_cid: {
      ...s.text,
      description: 'Of the image that its template had when the vault was made.',
    },
    metadata_cid: s.text,
    streams: s.listOf(assetStreamSchema, { description: 'In the order of its template.' }),
    public: s.boolean,
    json_payload: s.nullable(s.text),
    image_upload_url: { ...s.text, description: 'Empty when there is nothing to upload.' },
    custom_image: s.boolean,
    progress: s.listOf(progressSchema),
    failure: failureSchema,
  }),
)

export const bearerVaultSchema = s.component(
  'BearerVault',
  s.record({
    vaultId: s.uuid,
    createdAt: s.dateTime,
    name: { ...s.text, examples: ['boiler 7'] },
    description: s.nullable(s.text),
    templateId: s.uuid,
    status: statusSchema,
    ledger: ledgerSchema,
    public: s.boolean,
  }),
)

export const newVaultSchema = s.component(
  'NewVault',
  s.record(
    {
      template_id: { ...s.text, examples: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'] },
      name,
      description,
      ledger: s.nullable(s.choice(ledgers, { default: 'XRPL' })),
      json_payload: s.nullable({ ...s.text, maxLength: payloadLengthMax }),
      public: s.nullable({ ...s.boolean, default: true }),
    },
    { optional: ['description', 'ledger', 'json_payload', 'public'] },
  ),
)

export const vaultChangeSchema = s.component(
  'VaultChange',
  s.partial({ name, description, public: s.boolean }, { examples: [{ public: false }] }),
)

/** The vault that a body describes, with the defaults of the specification. */
export function newVault(body: Static<typeof newVaultSchema>, templateId: TemplateId): NewVault {
  return {
    templateId,
    name: body.name,
    description: body.description ?? null,
    ledger: body.ledger ?? 'XRPL',
    jsonPayload: body.json_payload ?? null,
    public: body.public ?? true,
  }
}
