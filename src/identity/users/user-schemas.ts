import { ledgers } from '../../core/ledger.ts'
import {
  boolean,
  component,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  noContent,
  pageOf,
  pageQuery,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { credentialTypes, entityTypes } from './user.ts'

const entityType = { ...text, enum: entityTypes } as const
const credentialType = { ...text, enum: credentialTypes } as const
const ledger = { ...text, enum: ledgers } as const

const entity = component(
  'Entity',
  record({ id: uuid, created_at: dateTime, name: text, description: text, type: entityType }),
)

const credential = component(
  'Credential',
  record({
    id: uuid,
    created_at: dateTime,
    type: credentialType,
    validated: boolean,
    identity_provider: text,
    key: text,
    secret: { const: '', description: 'No secret is kept: always empty.' },
    ledger,
  }),
)

const user = component(
  'User',
  record({
    id: uuid,
    first_name: text,
    last_name: text,
    username: text,
    user_profile_picture: boolean,
    created_at: dateTime,
    entities: listOf(entity),
    credentials: listOf(credential),
    image_upload_url: { ...text, description: 'Empty when there is nothing to upload.' },
    image_download_url: { ...text, description: 'Empty when there is no picture.' },
  }),
)

export const createUser = {
  operationId: 'createUser',
  summary: 'Create a user.',
  tags: ['Users'],
  headers: keyHeaders,
  body: component(
    'NewUser',
    record({
      username: {
        ...text,
        // ASCII only: two names that look alike are the same name.
        pattern: '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}$',
        description: 'Unique, whatever the case.',
        examples: ['ada'],
      },
      first_name: { ...text, maxLength: 200, examples: ['Ada'] },
      last_name: { ...text, maxLength: 200, examples: ['Lovelace'] },
    }),
  ),
  response: { 201: user },
} as const

export const readSelf = {
  operationId: 'readCallingUser',
  summary: 'Read the calling user.',
  tags: ['Users'],
  response: { 200: user },
} as const

export const readUser = {
  operationId: 'readUser',
  summary: 'Read a user: oneself, or anybody with platform:admin.',
  tags: ['Users'],
  params: idParams('userId'),
  response: { 200: user },
} as const

export const listUsers = {
  operationId: 'listUsers',
  summary: 'List all users.',
  tags: ['Users'],
  querystring: query({
    ...pageQuery,
    username: { ...text, description: 'Only the user of this name, in whatever case.' },
  }),
  response: { 200: pageOf(user) },
} as const

export const deleteUser = {
  operationId: 'deleteUser',
  summary: 'Delete a user.',
  description: 'The keys end at once, and the profile is erased; what the user owned is hidden.',
  tags: ['Users'],
  params: idParams('userId'),
  response: { 204: noContent },
} as const

export const createEntity = {
  operationId: 'createEntity',
  summary: 'Add an entity to a user.',
  tags: ['Users'],
  headers: keyHeaders,
  params: idParams('userId'),
  body: component(
    'NewEntity',
    record(
      {
        name: { ...text, minLength: 1, maxLength: 200, examples: ['Analytical Engines Ltd'] },
        description: { ...text, maxLength: 10_000 },
        type: entityType,
      },
      { optional: ['description', 'type'] },
    ),
  ),
  response: { 201: entity },
} as const

export const createCredential = {
  operationId: 'createCredential',
  summary: 'Add a credential to a user; no secret is taken.',
  tags: ['Users'],
  headers: keyHeaders,
  params: idParams('userId'),
  body: component(
    'NewCredential',
    record(
      {
        type: credentialType,
        key: { ...text, minLength: 1, maxLength: 320, examples: ['ada@example.com'] },
        identity_provider: { ...text, maxLength: 200 },
        ledger,
      },
      { optional: ['type', 'identity_provider', 'ledger'] },
    ),
  ),
  response: { 201: credential },
} as const

export const deleteEntity = {
  operationId: 'deleteEntity',
  summary: 'Remove an entity of a user.',
  tags: ['Users'],
  params: idParams('userId', 'partId'),
  response: { 204: noContent },
} as const

export const deleteCredential = {
  operationId: 'deleteCredential',
  summary: 'Remove a credential of a user.',
  tags: ['Users'],
  params: idParams('userId', 'partId'),
  response: { 204: noContent },
} as const
