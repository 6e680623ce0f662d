import type { UserId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'

/** What a user is called. Names of users are compared without regard to case. */
export interface NewUser {
  readonly username: string
  readonly firstName: string
  readonly lastName: string
}

export interface User extends NewUser {
  readonly id: UserId
  readonly createdAtUs: number
  /** The CID of the picture; empty without one. */
  readonly imageCid: string
  /** Uploads of a picture that were taken. */
  readonly imageUploads: number
}

/** An organisation that a user acts for. */
export interface NewEntity {
  readonly name: string
  readonly description: string
  readonly type: EntityType
}

export interface Entity extends NewEntity {
  readonly id: string
  readonly createdAtUs: number
}

/** A way to know a user by. No secret is ever taken or kept: that of every answer is empty. */
export interface NewCredential {
  readonly type: CredentialType
  readonly identityProvider: string
  readonly key: string
  readonly ledger: Ledger
}

export interface Credential extends NewCredential {
  readonly id: string
  readonly createdAtUs: number
  readonly validated: boolean
}

/** The only ones that the interface shows. */
export const entityTypes = ['LEGAL_ENTITY'] as const
export const credentialTypes = ['EMAIL'] as const

export type EntityType = (typeof entityTypes)[number]
export type CredentialType = (typeof credentialTypes)[number]

export interface Profile {
  readonly user: User
  readonly entities: readonly Entity[]
  readonly credentials: readonly Credential[]
}
