import { invalidParameter } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import type { QueryOf } from '../../requests/http/schema.ts'
import type { NewTemplate, TemplateChange } from './template.ts'
import type { listTemplates } from './template-schemas.ts'
import type { TemplateQuery } from './template-store.ts'

interface TemplateFields {
  name: string
  description: string | null
  public: boolean
  hint: string
  required_streams: string[]
  author: string | null
}

type RequiredFields = 'name' | 'hint' | 'required_streams'

export interface CreateTemplate {
  Body: Pick<TemplateFields, RequiredFields> & Partial<TemplateFields>
}

export interface OneTemplate {
  Params: { templateId: string }
}

export interface ChangeTemplate extends OneTemplate {
  Body: Partial<TemplateFields>
}

export interface ListTemplates {
  Querystring: QueryOf<typeof listTemplates.querystring>
}

export function newTemplate(body: CreateTemplate['Body']): NewTemplate {
  return {
    name: body.name,
    description: body.description ?? null,
    author: body.author ?? null,
    public: body.public ?? false,
    hint: body.hint,
    requiredStreams: [...new Set(body.required_streams)],
  }
}

export function templateChange(body: ChangeTemplate['Body']): TemplateChange {
  const { required_streams: requiredStreams, ...same } = body
  return { ...same, ...(requiredStreams && { requiredStreams: [...new Set(requiredStreams)] }) }
}

/** @throws DomainError `invalid_request` naming the parameter that is wrong */
export function templateQuery(
  {
    public: publicOnly = false,
    search_term: searchTerm = '',
    ...query
  }: ListTemplates['Querystring'],
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
