import { type AnyId, parseId, type UserId } from '../../core/ids.ts'

declare const brand: unique symbol

/**
 * What one file is uploaded for, as the path of its URL names it and as its bytes are named while they are
 * looked at: letters, digits, dots and hyphens.
 */
export type UploadId = string & { readonly [brand]: 'UploadId' }

/** What can have a file of its own. */
export const uploadPurposes = [
  'attachment',
  'template-bundle',
  'template-image',
  'vault-image',
  'user-image',
] as const

export type UploadPurpose = (typeof uploadPurposes)[number]

export interface UploadSubject {
  readonly purpose: UploadPurpose
  readonly resourceId: string
  /** Counts the uploads of the resource for this purpose, from 1: each is taken once. */
  readonly turn: number
  /**
   * Who else brings it, as long as a permission lets them; undefined for the owner. What one of them has begun is
   * nothing to the others.
   */
  readonly holderId?: UserId | undefined
}

export function uploadIdOf({ purpose, resourceId, turn, holderId }: UploadSubject): UploadId {
  const holder = holderId === undefined ? '' : `.${holderId}`
  return `${purpose}.${resourceId}.${turn}${holder}` as UploadId
}

/** The only place where text from outside becomes such an id. */
export function parseUploadId(
  text: string,
): { readonly id: UploadId; readonly subject: UploadSubject } | undefined {
  const [name, id = '', turn = '', holder, ...rest] = text.split('.')
  const purpose = uploadPurposes.find((one) => one === name)
  const resourceId = parseId<AnyId>(id)
  if (!purpose || resourceId !== id || rest.length > 0) return undefined
  if (!/^[1-9]\d{0,8}$/.test(turn)) return undefined
  const holderId = holder === undefined ? undefined : parseId<UserId>(holder)
  if (holderId !== holder) return undefined
  const subject = { purpose, resourceId, turn: Number(turn), ...(holderId && { holderId }) }
  return { id: text as UploadId, subject }
}
