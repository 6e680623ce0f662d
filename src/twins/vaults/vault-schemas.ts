import { ledgers } from '../../core/ledger.ts'
import {
  boolean,
  component,
  cursorQuery,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  noContent,
  nullable,
  pageOf,
  pageQuery,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'

/** A page of a list has a hundred of them: together they must fit into one answer. */
const payloadLengthMax = 65_536

export const ledgerSchema = component('Ledger', { type: 'string', enum: [...ledgers] })

const statusText = { ...text, examples: ['SERVICE_RECEIVED'] } as const

export const progressSchema = component(
  'ProgressEntry',
  record({ step: { type: 'integer' }, status: statusText, completed_at: dateTime }),
)

export const vaultSchema = component(
  'Vault',
  record({
    id: uuid,
    created_at: dateTime,
    name: { ...text, examples: ['boiler 7'] },
    description: nullable(text),
    template_id: uuid,
    status: statusText,
    ledger: ledgerSchema,
    tx_hash: text,
    nft_network_issuer: text,
    nft_network_owner: text,
    nft_network_id: text,
    cid: text,
    image_cid: text,
    default_image_cid: text,
    metadata_cid: text,
    streams: { type: 'array', items: { type: 'object' }, examples: [[]] },
    public: boolean,
    json_payload: nullable(text),
    image_upload_url: { ...text, description: 'Empty when there is nothing to upload.' },
    custom_image: boolean,
    progress: listOf(progressSchema),
  }),
)

const bearerVaultSchema = component(
  'BearerVault',
  record({
    vaultId: uuid,
    createdAt: dateTime,
    name: { ...text, examples: ['boiler 7'] },
    description: nullable(text),
    templateId: uuid,
    status: statusText,
    ledger: ledgerSchema,
    public: boolean,
  }),
)

const name = { ...text, minLength: 1, maxLength: 200, examples: ['boiler 7'] } as const
const description = nullable({ ...text, maxLength: 10_000 })

export const createVault = {
  operationId: 'createVault',
  summary: 'Create a vault from a template.',
  tags: ['Vaults'],
  headers: keyHeaders,
  body: component(
    'NewVault',
    record(
      {
        template_id: { ...text, examples: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'] },
        name,
        description,
        ledger: nullable({ type: 'string', enum: [...ledgers], default: 'XRPL' }),
        json_payload: nullable({ ...text, maxLength: payloadLengthMax }),
        public: nullable({ ...boolean, default: true }),
      },
      { optional: ['description', 'ledger', 'json_payload', 'public'] },
    ),
  ),
  response: { 201: vaultSchema },
} as const

export const listVaults = {
  operationId: 'listVaults',
  summary: "List one's own vaults.",
  description:
    'A bearer token takes `limit` and `cursor` and gets an array; a key takes `page` and `page_size` and gets an envelope.',
  tags: ['Vaults'],
  querystring: query({ ...pageQuery, ...cursorQuery }),
  response: {
    200: {
      description: 'By credential: an array (bearer token), or an envelope (key).',
      headers: {
        Link: { description: 'With a bearer token: the next page.', schema: { type: 'string' } },
      },
      content: {
        'application/json': {
          schema: {
            oneOf: [
              listOf(bearerVaultSchema, { title: 'With a bearer token' }),
              { ...pageOf(vaultSchema), title: 'With a key' },
            ],
          },
        },
      },
    },
  },
} as const

export const readVault = {
  operationId: 'readVault',
  summary: 'Read a vault.',
  description: "One's own, or a public one.",
  tags: ['Vaults'],
  params: idParams('vaultId'),
  response: { 200: vaultSchema },
} as const

export const changeVault = {
  operationId: 'changeVault',
  summary: 'Change a vault.',
  description:
    'What is not sent keeps its value. Template, ledger and payload are what gets anchored: they stay.',
  tags: ['Vaults'],
  params: idParams('vaultId'),
  body: component(
    'VaultChange',
    record(
      { name, description, public: boolean },
      { optional: ['name', 'description', 'public'], examples: [{ public: false }] },
    ),
  ),
  response: { 200: vaultSchema },
} as const

export const deleteVault = {
  operationId: 'deleteVault',
  summary: 'Delete a vault.',
  description: 'One without data streams.',
  tags: ['Vaults'],
  params: idParams('vaultId'),
  response: { 204: noContent },
} as const
