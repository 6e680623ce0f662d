import type { FastifyPluginAsync } from 'fastify'
import { DomainError } from '../core/errors.ts'
import { parseId, type TemplateId } from '../core/ids.ts'
import {
  envelope,
  invalidParameter,
  pageRequest,
  refuseUnknownParameters,
} from '../http/pagination.ts'
import type { CallerOf } from '../http/server.ts'
import { templateBody } from './template.ts'
import { createTemplate, listTemplates, readTemplate } from './template-schemas.ts'
import type { TemplateStore } from './template-store.ts'

export interface TemplateRoutesNeeds {
  readonly templates: TemplateStore
  readonly callerOf: CallerOf
}

export function templateRoutes({ templates, callerOf }: TemplateRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    app.post<CreateTemplate>(
      '/templates',
      { schema: createTemplate, config: { scope: 'vaults:write' } },
      async (request, reply) => {
        const { body } = request
        const template = await templates.create(callerOf(request).userId, {
          name: body.name,
          description: body.description ?? null,
          author: body.author ?? null,
          public: body.public ?? false,
          hint: body.hint,
          requiredStreams: [...new Set(body.required_streams)],
        })
        return reply.code(201).send(templateBody(template))
      },
    )

    app.get<ListTemplates>(
      '/templates',
      { schema: listTemplates, config: { scope: 'vaults:read' } },
      async (request) => {
        const { query } = request
        refuseUnknownParameters(query, parameters)
        const page = pageRequest(query)
        const filter = {
          ownerId: callerOf(request).userId,
          publicOnly: booleanParameter(query, 'public'),
          searchTerm: textParameter(query, 'search_term'),
          sortBy: choiceParameter(query, 'sort_by', ['created_at', 'name'] as const),
          sortType: choiceParameter(query, 'sort_type', ['asc', 'desc'] as const),
        }
        const slice = { offset: (page.page - 1) * page.pageSize, limit: page.pageSize }
        const content = await templates.list(filter, slice)
        return envelope(content.map(templateBody), await templates.count(filter), page)
      },
    )

    app.get<ReadTemplate>(
      '/templates/:templateId',
      { schema: readTemplate, config: { scope: 'vaults:read' } },
      async (request) => {
        const id = parseId<TemplateId>(request.params.templateId)
        const template = id && (await templates.findVisible(callerOf(request).userId, id))
        if (!template)
          throw new DomainError('not_found', `no template ${request.params.templateId}`)
        return templateBody(template)
      },
    )
  }
}

const parameters = ['page', 'page_size', 'public', 'search_term', 'sort_by', 'sort_type']

type Query = Readonly<Record<string, unknown>>

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

function booleanParameter(query: Query, name: string): boolean {
  const text = query[name] ?? 'false'
  if (text !== 'true' && text !== 'false') throw invalidParameter(name, 'must be true or false')
  return text === 'true'
}

interface ReadTemplate {
  Params: { templateId: string }
}

interface ListTemplates {
  Querystring: Record<string, unknown>
}

interface CreateTemplate {
  Body: {
    name: string
    description?: string | null
    public?: boolean
    hint: string
    required_streams: string[]
    author?: string | null
  }
}
