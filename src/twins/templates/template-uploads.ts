import type { Compilable } from 'kysely'
import type { Caller } from '../../access/auth/caller.ts'
import type { TemplateId } from '../../core/ids.ts'
import { heldFiles } from '../../files/contents/content-rows.ts'
import type { UploadSubject } from '../../files/store/upload-id.ts'
import {
  imageBytesMax,
  imageUploads as uploadsOfImages,
} from '../../files/uploads/image-uploads.ts'
import type { UploadKind } from '../../files/uploads/upload-kind.ts'
import type { UploadUrls } from '../../files/uploads/upload-urls.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { completedStatus, failedStatus, type Template } from './template.ts'
import type { TemplateLinks } from './template-api.ts'
import type { TemplateStore } from './template-store.ts'

/** The archive of a template: texts and drawings, no recordings. */
const bundleBytesMax = 100 * 1024 * 1024

export interface TemplateUploadsNeeds {
  readonly templates: TemplateStore
  readonly state: StateDatabase
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
}

/** The files of a template come once: what was made from it refers to them. */
function bundleOf({ id, bundleUploads }: Template): UploadSubject {
  return { purpose: 'template-bundle', resourceId: id, turn: bundleUploads + 1 }
}

/** An image may be replaced by another one. */
function imageSubjectOf({ id, imageUploads }: Template): UploadSubject {
  return { purpose: 'template-image', resourceId: id, turn: imageUploads + 1 }
}

/** The addresses that answers show of a template: those for uploads to its owner only. */
export async function templateLinks(
  template: Template,
  {
    uploadUrls,
    publicUrl,
    caller,
  }: { readonly uploadUrls: UploadUrls; readonly publicUrl: string; readonly caller: Caller },
): Promise<TemplateLinks> {
  const image = template.imageCid === '' ? '' : `${publicUrl}/templates/${template.id}/image`
  if (caller.userId !== template.ownerId) return { image, upload: '', imageUpload: '' }
  return {
    image,
    upload:
      template.bundleCid === ''
        ? await uploadUrls.urlFor(caller, bundleOf(template), bundleBytesMax)
        : '',
    imageUpload: await uploadUrls.urlFor(caller, imageSubjectOf(template), imageBytesMax),
  }
}

/** What is uploaded for templates: their files, and their images. */
export function templateUploads(needs: TemplateUploadsNeeds): readonly UploadKind[] {
  return [
    bundles(needs),
    uploadsOfImages('templates', { ...needs, also: (id) => changed(needs, id) }),
  ]
}

function bundles(needs: TemplateUploadsNeeds): UploadKind {
  const { templates, state } = needs
  const atTurn = (id: string, turn: number) =>
    state
      .updateTable('templates')
      .set({ bundle_uploads: turn })
      .where('id', '=', id)
      .where('bundle_uploads', '=', turn - 1)
  return {
    purpose: 'template-bundle',

    async expected(id) {
      const template = await templates.load(id)
      if (template === undefined || template.bundleCid !== '') return undefined
      const { ownerId, bundleUploads } = template
      const form = { is: 'archive' } as const
      return { ownerId, turn: bundleUploads + 1, form, bytesMax: bundleBytesMax }
    },

    async taken(id, turn, { cid, size, files }) {
      const values = { bundle_cid: cid, bundle_size: size, status: completedStatus }
      return [
        atTurn(id, turn).set(values),
        ...heldFiles(state, id, files),
        ...(await changed(needs, id)),
      ]
    },

    async refused(id, turn) {
      return [atTurn(id, turn).set({ status: failedStatus }), ...(await changed(needs, id))]
    },
  }
}

async function changed(
  { templates, lifecycle }: TemplateUploadsNeeds,
  id: string,
): Promise<readonly Compilable[]> {
  const template = await templates.load(id)
  if (!template) return []
  const { ownerId, name } = template
  const subject = { ownerId, resourceId: id as TemplateId, name, actor: undefined }
  return lifecycle.record({ event: 'template.updated', ...subject })
}
