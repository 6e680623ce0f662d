import type { TemplateId, UserId } from '../../core/ids.ts'

/** What a caller says of a new template. */
export interface NewTemplate {
  readonly name: string
  readonly description: string | null
  readonly author: string | null
  readonly public: boolean
  readonly hint: string
  /** Asset codes of the asset streams that a vault of this template needs. */
  readonly requiredStreams: readonly string[]
}

export interface Template extends NewTemplate {
  readonly id: TemplateId
  readonly ownerId: UserId
  readonly createdAtUs: number
  readonly status: string
}

/**
 * What a later request may change: what it does not say stays as it is
 * (decisions.md#templates-vaults-data-streams-favorites).
 */
export type TemplateChange = { readonly [Field in keyof NewTemplate]?: NewTemplate[Field] }

/** The form of a name in which upper and lower case are the same. */
export function foldName(name: string): string {
  return name.toLowerCase()
}
