import {
  boolean,
  component,
  count,
  dateTime,
  idParams,
  listOf,
  nullable,
  pageOf,
  pageQuery,
  query,
  record,
  text,
  uuid,
} from '../http/schema.ts'

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

export const createTemplate = {
  operationId: 'createTemplate',
  summary: 'Create a template.',
  tags: ['Templates'],
  body: component(
    'NewTemplate',
    record(
      {
        name: { ...text, minLength: 1, maxLength: 200, examples: ['boiler'] },
        description: nullable({ ...text, maxLength: 10_000 }),
        public: { ...boolean, default: false },
        hint: { ...text, maxLength: 10_000, examples: ['one vault for each boiler'] },
        required_streams: listOf(
          { ...text, minLength: 1, maxLength: 200 },
          { maxItems: 1_000, description: 'Asset codes that a vault needs.', examples: [[]] },
        ),
        author: nullable({ ...text, maxLength: 200 }),
      },
      { optional: ['description', 'public', 'author'] },
    ),
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
    search_term: { ...text, default: '', description: 'Part of a name.' },
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
