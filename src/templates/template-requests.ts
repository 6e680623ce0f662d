import { invalidParameter } from '../core/errors.ts'
import type { UserId } from '../core/ids.ts'
import type { NewTemplate, TemplateChange } from './template.ts'
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
  Querystring: Query
}

type Query = Readonly<Record<string, unknown>>

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
export function templateQuery(query: Query, userId: UserId): TemplateQuery {
  return {
    userId,
    publicOnly: query['public'] === 'true',
    searchTerm: textParameter(query, 'search_term'),
    sortBy: choiceParameter(query, 'sort_by', ['created_at', 'name'] as const),
    sortType: choiceParameter(query, 'sort_type', ['asc', 'desc'] as const),
  }
}

function textParameter(query: Query, name: string): string {
  const text = query[name]
  return typeof text === 'string' ? text : ''
}

/** One of the values; the first when it is empty, which is the default. */
function choiceParameter<Value extends string>(
  query: Query,
  name: string,
  values: readonly [Value, ...Value[]],
): Value {
  const text = textParameter(query, name)
  if (text === '') return values[0]
  const chosen = values.find((value) => value === text.toLowerCase())
  if (chosen === undefined) throw invalidParameter(name, `must be one of ${values.join(', ')}`)
  return chosen
}
