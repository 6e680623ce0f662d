import type { Static } from 'typebox'
import { ledgers } from '../../core/ledger.ts'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import {
  type Credential,
  credentialTypes,
  type Entity,
  entityTypes,
  type NewCredential,
  type NewEntity,
  type NewUser,
  type Profile,
} from './user.ts'

const entityType = s.choice(entityTypes)
const credentialType = s.choice(credentialTypes)
const ledgerSchema = s.choice(ledgers)

export const entitySchema = s.component(
  'Entity',
  s.record({
    id: s.uuid,
    created_at: s.dateTime,
    name: s.text,
    description: s.text,
    type: entityType,
  }),
)

export const credentialSchema = s.component(
  'Credential',
  s.record({
    id: s.uuid,
    created_at: s.dateTime,
    type: credentialType,
    validated: s.boolean,
    identity_provider: s.text,
    key: s.text,
    secret: s.typed<''>({ const: '', description: 'No secret is kept: always empty.' }),
    ledger: ledgerSchema,
  }),
)

export const userSchema = s.component(
  'User',
  s.record({
    id: s.uuid,
    first_name: s.text,
    last_name: s.text,
    username: s.text,
    user_profile_picture: s.boolean,
    created_at: s.dateTime,
    entities: s.listOf(entitySchema),
    credentials: s.listOf(credentialSchema),
    image_upload_url: { ...s.text, description: 'Empty when there is nothing to upload.' },
    image_download_url: { ...s.text, description: 'Empty when there is no picture.' },
  }),
)

export const newUserSchema = s.component(
  'NewUser',
  s.record({
    username: {
      ...s.text,
      // ASCII only: two names that look alike are the same name.
      pattern: '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}$',
      description: 'Unique; case makes no difference.',
      examples: ['ada'],
    },
    first_name: { ...s.text, maxLength: 200, examples: ['Ada'] },
    last_name: { ...s.text, maxLength: 200, examples: ['Lovelace'] },
  }),
)

export const usersQuery = s.query({
  ...s.pageQuery,
  username: { ...s.text, description: 'Only the user of this name; case makes no difference.' },
})

export const newEntitySchema = s.component(
  'NewEntity',
  s.record(
    {
      name: { ...s.text, minLength: 1, maxLength: 200, examples: ['Analytical Engines Ltd'] },
      description: { ...s.text, maxLength: 10_000 },
      type: entityType,
    },
    { optional: ['description', 'type'] },
  ),
)

export const newCredentialSchema = s.component(
  'NewCredential',
  s.record(
    {
      type: credentialType,
      key: { ...s.text, minLength: 1, maxLength: 320, examples: ['ada@example.com'] },
      identity_provider: { ...s.text, maxLength: 200 },
      ledger: ledgerSchema,
    },
    { optional: ['type', 'identity_provider', 'ledger'] },
  ),
)

export function newUser(body: Static<typeof newUserSchema>): NewUser {
  return { username: body.username, firstName: body.first_name, lastName: body.last_name }
}

/** The entity that a body describes, with the defaults of the specification. */
export function newEntity(body: Static<typeof newEntitySchema>): NewEntity {
  const { name, description = '', type = 'LEGAL_ENTITY' } = body
  return { name, description, type }
}

/** The credential that a body describes, with the defaults of the specification. */
export function newCredential(body: Static<typeof newCredentialSchema>): NewCredential {
  const { type = 'EMAIL', key, identity_provider: identityProvider = '', ledger = 'XRPL' } = body
  return { type, key, identityProvider, ledger }
}

/** Addresses of a user's picture, which are for that user only. */
export interface UserLinks {
  readonly upload: string
  readonly download: string
}

const noLinks: UserLinks = { upload: '', download: '' }

/** The user as the interface shows it. */
export function userBody(
  { user, entities, credentials }: Profile,
  links: UserLinks = noLinks,
): Static<typeof userSchema> {
  return {
    id: user.id,
    first_name: user.firstName,
    last_name: user.lastName,
    username: user.username,
    user_profile_picture: user.imageCid !== '',
    created_at: formatUs(user.createdAtUs),
    entities: entities.map(entityBody),
    credentials: credentials.map(credentialBody),
    image_upload_url: links.upload,
    image_download_url: links.download,
  }
}

export function entityBody(entity: Entity): Static<typeof entitySchema> {
  const { id, createdAtUs, name, description, type } = entity
  return { id, created_at: formatUs(createdAtUs), name, description, type }
}

export function credentialBody(credential: Credential): Static<typeof credentialSchema> {
  return {
    id: credential.id,
    created_at: formatUs(credential.createdAtUs),
    type: credential.type,
    validated: credential.validated,
    identity_provider: credential.identityProvider,
    key: credential.key,
    secret: '',
    ledger: credential.ledger,
  }
}
