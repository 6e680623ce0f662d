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
  /** The CID of the folder of its files; empty until they are uploaded. */
  readonly bundleCid: string
  /** Bytes of these files. */
  readonly bundleSize: number
  /** Uploads that were taken. */
  readonly bundleUploads: number
  /** Empty without an image. */
  readonly imageCid: string
  readonly imageUploads: number
  /** Empty for one from before there were anchors, until it is needed. */
  readonly metadataCid: string
}

/** The state that a template begins in: its files may come. */
export const pendingStatus = 'UPLOAD_PENDING'

/** The state of one whose files are there. */
export const completedStatus = 'COMPLETED'

/** The state of one whose files were no archive that is taken: others may come. */
export const failedStatus = 'FAILED'

/** What a template is before anything is uploaded. */
export const withoutFiles = {
  bundleCid: '',
  bundleSize: 0,
  bundleUploads: 0,
  imageCid: '',
  imageUploads: 0,
} as const

/**
 * What a later request may change: what it does not say stays as it is
 * (decisions.md#templates-vaults-data-streams-favorites).
 */
export type TemplateChange = { readonly [Field in keyof NewTemplate]?: NewTemplate[Field] }

/** The form of a name in which upper and lower case are the same. */
export function foldName(name: string): string {
  return name.toLowerCase()
}
