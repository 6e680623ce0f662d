import {
  boolean,
  component,
  count,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  noContent,
  nullable,
  pageOf,
  pageQuery,
  partial,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'

/** A page of a list has a hundred templates: together they must fit into one answer. */
const requiredStreamsMax = 200

const templateSchema = component(
  'Template',
  record({
    id: uuid,
    created_at: dateTime,
    name: { ...text, examples: ['boiler'] },
    description: nullable(text),
    author: nullable(text),
    status: { ...text, examples: ['UPLOAD_PENDING'] },
    template_dir: text,
    default_image: text,
    default_image_cid: text,
    image_upload_url: { ...text, description: 'Empty when there is nothing to upload.' },
    upload_url: { ...text, description: 'Empty when there is nothing to upload.' },
    size: { ...count, description: 'Bytes.' },
    public: boolean,
    hint: text,
    required_streams: listOf(text, { description: 'Asset codes.' }),
  }),
)

const givenFields = {
  name: { ...text, minLength: 1, maxLength: 200, examples: ['boiler'] },
  description: nullable({ ...text, maxLength: 10_000 }),
  public: { ...boolean, default: false },
  hint: { ...text, maxLength: 10_000, examples: ['one vault for each boiler'] },
  required_streams: listOf(
    { ...text, minLength: 1, maxLength: 200 },
    {
      maxItems: requiredStreamsMax,
      description: 'Asset codes that a vault needs.',
      examples: [[]],
    },
  ),
  author: nullable({ ...text, maxLength: 200 }),
}

export const createTemplate = {
  operationId: 'createTemplate',
  summary: 'Create a template.',
  tags: ['Templates'],
  headers: keyHeaders,
  body: component(
    'NewTemplate',
    record(givenFields, { optional: ['description', 'public', 'author'] }),
  ),
  response: { 201: templateSchema },
} as const

export const listTemplates = {
  operationId: 'listTemplates',
  summary: "List one's own templates, or public ones.",
  tags: ['Templates'],
  querystring: query({
    ...pageQuery,
    public: { ...boolean, default: false, description: 'Whether to list public ones.' },
    search_term: {
      ...text,
      maxLength: 200,
      default: '',
      description: 'Part of a name, in upper or lower case.',
    },
    sort_by: { ...text, default: '', description: '`created_at` (the default) or `name`.' },
    sort_type: { ...text, default: '', description: '`asc` (the default) or `desc`.' },
  }),
  response: { 200: pageOf(templateSchema) },
} as const

export const readTemplate = {
  operationId: 'readTemplate',
  summary: 'Read a template.',
  tags: ['Templates'],
  params: idParams('templateId'),
  response: { 200: templateSchema },
} as const

export const changeTemplate = {
  operationId: 'changeTemplate',
  summary: 'Change a template.',
  description: 'What is not sent keeps its value.',
  tags: ['Templates'],
  params: idParams('templateId'),
  body: component('TemplateChange', partial(givenFields, { examples: [{ public: true }] })),
  response: { 200: templateSchema },
} as const

export const deleteTemplate = {
  operationId: 'deleteTemplate',
  summary: 'Delete a template.',
  description: 'One that no vault was made from.',
  tags: ['Templates'],
  params: idParams('templateId'),
  response: { 204: noContent },
} as const
