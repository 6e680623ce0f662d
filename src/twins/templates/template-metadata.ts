import { encodeMetadata, type Metadata, newSalt } from '../../anchors/metadata/encode-metadata.ts'
import { formatUs } from '../../core/time.ts'
import type { Template } from './template.ts'

/** What a vault refers to as its template: the template as it was when this was encoded. */
export async function templateMetadata(
  template: Omit<Template, 'metadataCid'>,
  salt: string | undefined = template.public ? undefined : newSalt(),
): Promise<Metadata> {
  return await encodeMetadata('template', {
    name: template.name,
    description: template.description,
    author: template.author,
    hint: template.hint,
    required_streams: template.requiredStreams,
    created_at: formatUs(template.createdAtUs),
    ...(salt !== undefined && { salt }),
  })
}
