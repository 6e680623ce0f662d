import type { Static } from 'typebox'
import { invalidParameter } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import type { NewTemplate, Template, TemplateChange } from './template.ts'
import type { TemplateQuery } from './template-store.ts'

/** A page of a list has a hundred templates: together they must fit into one answer. */
const requiredStreamsMax = 200

export const templateSchema = s.component(
  'Template',
  s.record({
    id: s.uuid,
    created_at: s.dateTime,
    name: { ...s.text, examples: ['boiler'] },
    description: s.nullable(s.text),
    author: s.nullable(s.text),
    status: { ...s.text, examples: ['UPLOAD_PENDING'] },
    template_dir: { ...s.text, description: 'CID of the folder of its files.' },
    default_image: { ...s.text, description: 'Where its image is, for those who may see it.' },
    default_image_cid: s.text,
    image_upload_url: { ...s.text, description: 'Empty when there is nothing to upload.' },
    upload_url: { ...s.text, description: 'Empty when there is nothing to upload.' },
    size: { ...s.count, description: 'Bytes.' },
    public: s.boolean,
    hint: s.text,
    required_streams: s.listOf(s.text, { description: 'Asset codes.' }),
  }),
)

const givenFields = {
  name: { ...s.text, minLength: 1, maxLength: 200, examples: ['boiler'] },
  description: s.nullable({ ...s.text, maxLength: 10_000 }),
  public: { ...s.boolean, default: false },
  hint: { ...s.text, maxLength: 10_000, examples: ['one vault for each boiler'] },
  required_streams: s.listOf(
    { ...s.text, minLength: 1, maxLength: 200 },
    {
      maxItems: requiredStreamsMax,
      description: 'Asset codes that a vault needs.',
      examples: [[]],
    },
  ),
  author: s.nullable({ ...s.text, maxLength: 200 }),
}

export const newTemplateSchema = s.component(
  'NewTemplate',
  s.record(givenFields, { optional: ['description', 'public', 'author'] }),
)

export const templateChangeSchema = s.component(
  'TemplateChange',
  s.partial(givenFields, { examples: [{ public: true }] }),
)

export const templatesQuery = s.query({
  ...s.pageQuery,
  public: { ...s.boolean, default: false, description: 'Whether to list public ones.' },
  search_term: {
    ...s.text,
    maxLength: 200,
    default: '',
    description: 'Part of a name, in upper or lower case.',
  },
  sort_by: { ...s.text, default: '', description: '`created_at` (the default) or `name`.' },
  sort_type: { ...s.text, default: '', description: '`asc` (the default) or `desc`.' },
})

export function newTemplate(body: Static<typeof newTemplateSchema>): NewTemplate {
  return {
    name: body.name,
    description: body.description ?? null,
    author: body.author ?? null,
    public: body.public ?? false,
    hint: body.hint,
    requiredStreams: [...new Set(body.required_streams)],
  }
}

export function templateChange(body: Static<typeof templateChangeSchema>): TemplateChange {
  const { required_streams: requiredStreams, ...same } = body
  return { ...same, ...(requiredStreams && { requiredStreams: [...new Set(requiredStreams)] }) }
}

/** @throws DomainError `invalid_request` naming the parameter that is wrong */
export function templateQuery(
  {
    public: publicOnly = false,
    search_term: searchTerm = '',
    ...query
  }: Static<typeof templatesQuery>,
  userId: UserId,
): TemplateQuery {
  return {
    userId,
    publicOnly,
    searchTerm,
    sortBy: choice('sort_by', query.sort_by, ['created_at', 'name']),
    sortType: choice('sort_type', query.sort_type, ['asc', 'desc']),
  }
}

/** One of the values, in whatever case; the first when it is empty, which is the default. */
function choice<Value extends string>(
  name: string,
  text: string | undefined,
  values: readonly [Value, ...Value[]],
): Value {
  if (text === undefined || text === '') return values[0]
  const chosen = values.find((value) => value === text.toLowerCase())
  if (chosen === undefined) throw invalidParameter(name, `must be one of ${values.join(', ')}`)
  return chosen
}

/** What else an answer shows of a template: addresses, each empty for whom it is not for. */
export interface TemplateLinks {
  readonly image: string
  readonly upload: string
  readonly imageUpload: string
}

const noLinks: TemplateLinks = { image: '', upload: '', imageUpload: '' }

export function templateBody(
  template: Template,
  links: TemplateLinks = noLinks,
): Static<typeof templateSchema> {
  return {
    id: template.id,
    created_at: formatUs(template.createdAtUs),
    name: template.name,
    description: template.description,
    author: template.author,
    status: template.status,
    template_dir: template.bundleCid,
    default_image: links.image,
    default_image_cid: template.imageCid,
    image_upload_url: links.imageUpload,
    upload_url: links.upload,
    size: template.bundleSize,
    public: template.public,
    hint: template.hint,
    required_streams: template.requiredStreams,
  }
}
