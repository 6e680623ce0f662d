import type { Operations } from '../../../../../clients/typescript/call.ts'

export type Ledger = Operations['readVault']['answer']['ledger']

export const ledgers = [
  'XRPL',
  'POLYGON_ZKEVM',
  'POLYGON_POS',
  'ETHEREUM',
] as const satisfies readonly Ledger[]

/** A template as the list of them has it. */
export interface KnownTemplate {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly hint: string
  readonly required: readonly string[]
}

/** A template that is made with the vault. */
export interface TemplateDraft {
  readonly name: string
  readonly hint: string
  /** As it was typed: asset codes with spaces or commas between them. */
  readonly codes: string
  readonly isPublic: boolean
  readonly image: File | undefined
  readonly bundle: File | undefined
}

export type TemplateChoice =
  | { readonly is: 'known'; readonly template: KnownTemplate | undefined }
  | { readonly is: 'new'; readonly draft: TemplateDraft }

/** A new vault, as far as the form has been filled in. */
export interface VaultDraft {
  readonly name: string
  readonly description: string
  readonly payload: string
  readonly ledger: Ledger
  readonly isPublic: boolean
  readonly image: File | undefined
  readonly choice: TemplateChoice
  /** Whether asset streams that the template needs, and that are not there, are made as well. */
  readonly makesStreams: boolean
}

export const emptyTemplate: TemplateDraft = {
  name: '',
  hint: '',
  codes: '',
  isPublic: false,
  image: undefined,
  bundle: undefined,
}

export const emptyVault: VaultDraft = {
  name: '',
  description: '',
  payload: '',
  ledger: 'XRPL',
  isPublic: false,
  image: undefined,
  choice: { is: 'known', template: undefined },
  makesStreams: true,
}

/** Images that the service takes, as a file dialog has them. */
export const imageTypes = 'image/png,image/jpeg,image/webp,image/gif,image/avif'

/** Largest files, which the service says again where it takes them (docs/files.md). */
export const imageBytesMax = 10 * 1024 * 1024
export const bundleBytesMax = 100 * 1024 * 1024

/** The asset codes in a text, each once. */
export function codesIn(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((code) => code !== ''))]
}

/** Asset codes that nothing can have; the service says the same of them. */
export function badCodes(codes: readonly string[]): readonly string[] {
  return codes.filter((code) => !/^[!-.0-~]{1,20}$/.test(code) || ['XRP', '.', '..'].includes(code))
}

/** Asset codes that the vault will need. */
export function neededCodes({ choice }: VaultDraft): readonly string[] {
  return choice.is === 'new' ? codesIn(choice.draft.codes) : (choice.template?.required ?? [])
}

/** Whether there is enough of it to be made. */
export function isReady({ name, choice, image }: VaultDraft): boolean {
  if (name.trim() === '' || isTooLarge(image, imageBytesMax)) return false
  if (choice.is === 'known') return choice.template !== undefined
  const { name: templateName, codes, image: picture, bundle } = choice.draft
  return (
    templateName.trim() !== '' &&
    badCodes(codesIn(codes)).length === 0 &&
    !isTooLarge(picture, imageBytesMax) &&
    !isTooLarge(bundle, bundleBytesMax)
  )
}

export function isTooLarge(file: { readonly size: number } | undefined, bytesMax: number): boolean {
  return file !== undefined && file.size > bytesMax
}

/** What is wrong with a payload that seems to be meant as JSON: any text is taken. */
export function payloadDoubt(payload: string): string | undefined {
  if (!/^\s*[[{]/.test(payload)) return undefined
  try {
    JSON.parse(payload)
    return undefined
  } catch {
    return 'This is not JSON. It can be kept as the text that it is.'
  }
}
