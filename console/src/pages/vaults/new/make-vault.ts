import { ApiFailure } from '../../../../../clients/typescript/call.ts'
import { api, keyApi } from '../../../api/client.ts'
import { failureOf, isCutOff } from '../../../api/failure.ts'
import { upload, uploadPlace } from '../../../api/upload.ts'
import { codesIn, neededCodes, type TemplateDraft, type VaultDraft } from './vault-draft.ts'

/** What earlier tries have made: the next one goes on from there, and makes nothing twice. */
export interface MadeBefore {
  template?: MadeTemplate
  vault?: { readonly id: string; readonly imageAddress: string }
  readonly uploaded: Set<File>
  /** Of calls whose answer was lost, by what they had sent. */
  readonly keys: Map<string, string>
}

interface MadeTemplate {
  readonly id: string
  readonly imageAddress: string
  readonly bundleAddress: string
}

/** Makes all that a form says, and answers the id of the vault. @throws ApiFailure */
export async function makeVault(draft: VaultDraft, made: MadeBefore): Promise<string> {
  const { choice } = draft
  let templateId = choice.is === 'known' ? (choice.template?.id ?? '') : ''
  if (choice.is === 'new') templateId = await templateOf(choice.draft, made)
  made.vault ??= await vaultOf(draft, templateId, made)
  await uploaded(draft.image, made.vault.imageAddress, made)
  return made.vault.id
}

async function templateOf(draft: TemplateDraft, made: MadeBefore): Promise<string> {
  const body = {
    name: draft.name.trim(),
    hint: draft.hint.trim(),
    required_streams: codesIn(draft.codes),
    public: draft.isPublic,
  }
  made.template ??= await once(body, made, async (idempotencyKey) => {
    const { id, image_upload_url, upload_url } = await api.call('createTemplate', {
      body,
      idempotencyKey,
    })
    return { id, imageAddress: image_upload_url, bundleAddress: upload_url }
  })
  const { id, imageAddress, bundleAddress } = made.template
  await uploaded(draft.image, imageAddress, made)
  await uploaded(draft.bundle, bundleAddress, made)
  return id
}

async function vaultOf(draft: VaultDraft, templateId: string, made: MadeBefore) {
  const body = {
    template_id: templateId,
    name: draft.name.trim(),
    description: draft.description.trim() || null,
    json_payload: draft.payload.trim() === '' ? null : draft.payload,
    ledger: draft.ledger,
    public: draft.isPublic,
  }
  const make = async (idempotencyKey?: string) => {
    const vault = await api.call('createVault', { body, idempotencyKey })
    return { id: vault.id, imageAddress: vault.image_upload_url }
  }
  try {
    return await once(body, made, make)
  } catch (error) {
    if (failureOf(error).code !== 'missing_required_streams' || !draft.makesStreams) throw error
    await makeStreams(neededCodes(draft))
    return await once(body, made, make)
  }
}

/** Makes asset streams with these codes; those that are there stay. @throws ApiFailure */
async function makeStreams(codes: readonly string[]): Promise<void> {
  for (const asset_code of codes) {
    try {
      await keyApi.call('createStream', { body: { asset_code, description: null } })
    } catch (error) {
      if (failureOf(error).code !== 'conflict') throw error
    }
  }
}

/** A call whose answer was lost is repeated under its key: what it has made is not made twice. */
async function once<Answer>(
  body: object,
  { keys }: MadeBefore,
  call: (idempotencyKey: string | undefined) => Promise<Answer>,
): Promise<Answer> {
  const sent = JSON.stringify(body)
  try {
    return await call(keys.get(sent))
  } catch (error) {
    const key = error instanceof ApiFailure ? error.idempotencyKey : undefined
    if (isCutOff(error) && key !== undefined) keys.set(sent, key)
    throw error
  }
}

/** Sends a file where one was chosen, unless it is there already. @throws ApiFailure */
async function uploaded(file: File | undefined, address: string, made: MadeBefore): Promise<void> {
  if (file === undefined || made.uploaded.has(file)) return
  const place = uploadPlace(address)
  if (!place) throw new Error(`${file.name} has to be sent with another program: docs/files.md`)
  const { signal } = new AbortController()
  await upload({ path: place.path, file, signal, onProgress: () => undefined })
  made.uploaded.add(file)
}
