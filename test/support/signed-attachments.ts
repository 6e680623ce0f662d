import { atStatus } from './anchored.ts'
import type { ApiClient } from './api-client.ts'
import type { Person } from './people.ts'
import { attachmentOf, upload } from './uploads.ts'

/** An attachment whose file has come; its id. */
export async function storedAttachment(
  api: Pick<ApiClient, 'base'>,
  person: Pick<Person, 'withKey'>,
): Promise<string> {
  const { id, presigned_url: url } = await attachmentOf(person)
  await upload(api, url, 'hello')
  return id
}

/** A signature by the service, of what is there; its id. */
export async function storedSignature(
  api: Pick<ApiClient, 'base'>,
  person: Pick<Person, 'withKey'>,
): Promise<string> {
  const path = `/attachments/${await storedAttachment(api, person)}/signatures`
  const { id } = (await person.withKey<{ id: string }>('POST', path, {})).body
  await atStatus(person, `${path}/${id}`, 'METADATA_STORED')
  return id
}
