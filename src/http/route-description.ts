import type { RouteOptions } from 'fastify'
import type { Interface } from '../auth/authenticate.ts'
import type { CallerKind } from '../auth/limited-key.ts'
import type { Scope } from '../auth/scopes.ts'
import type { ErrorCode } from '../core/error-catalogue.ts'
import type { Tag } from './openapi/tags.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * What a caller's key must grant for this route; every route that needs credentials names it.
     * `any`: good credentials are enough.
     */
    readonly scope?: Scope | 'any'
    /** Whom it is for: users, unless it says otherwise. */
    readonly callers?: readonly CallerKind[]
    /** The one interface that has this route (D2); either has it when this is left out. */
    readonly interface?: Interface
    /** Failures of this route beyond those that follow from its shape (see `errorsOf`). */
    readonly errors?: readonly ErrorCode[]
    /** Keeps a route out of the OpenAPI document: files of the console and of /docs. */
    readonly undocumented?: boolean
  }
  interface FastifySchema {
    /** Unique; generated clients name their functions after it. */
    readonly operationId?: string
    /** One line, in the imperative. */
    readonly summary?: string
    readonly description?: string
    readonly tags?: readonly Tag[]
  }
}

/** One operation of the interface. */
export interface DescribedRoute {
  readonly method: string
  /** As Fastify writes it: `/vaults/:vaultId`. */
  readonly url: string
  readonly schema: NonNullable<RouteOptions['schema']>
  readonly config: NonNullable<RouteOptions['config']>
}

/** Every route of the service, as it is registered: the source of the OpenAPI document. */
export class RouteRegister {
  readonly #routes: DescribedRoute[] = []
  /** By the paths that they take. */
  readonly #methods = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()

  /** @throws Error for a route that says too little of itself: a mistake of ours, found at start */
  add({ method, url, schema = {}, config = {} }: RouteOptions): void {
    for (const one of [method].flat()) {
      // Fastify adds HEAD to each GET by itself.
      if (one === 'HEAD' || config.undocumented === true) continue
      requireDescription(`${one} ${url}`, schema)
      this.#routes.push({ method: one, url, schema, config })
      const known = this.#methods.get(url) ?? { pattern: patternOf(url), methods: new Set() }
      known.methods.add(one)
      if (one === 'GET') known.methods.add('HEAD')
      this.#methods.set(url, known)
    }
  }

  get all(): readonly DescribedRoute[] {
    return this.#routes
  }

  /** The methods of a path as it came in a request; none when there is no such path. */
  methodsOf(path: string): readonly string[] {
    const fitting = [...this.#methods.values()].filter(({ pattern }) => pattern.test(path))
    return [...new Set(fitting.flatMap(({ methods }) => [...methods]))].toSorted()
  }
}

function requireDescription(route: string, schema: DescribedRoute['schema']): void {
  for (const part of ['operationId', 'summary', 'tags', 'response'] as const) {
    if (schema[part] === undefined) throw new Error(`${route} has no ${part} in its schema`)
  }
  const statuses = Object.keys(schema.response as object)
  if (!statuses.some((status) => /^[23]/.test(status))) {
    throw new Error(`${route} does not say what it answers when all is well`)
  }
}

function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part === '*') return '.*'
    return part.startsWith(':') ? '[^/]+' : RegExp.escape(part)
  })
  return new RegExp(`^${parts.join('/')}$`)
}
