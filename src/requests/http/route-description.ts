import type { RouteOptions } from 'fastify'
import type { Interface } from '../../access/auth/authenticate.ts'
import type { CallerKind } from '../../access/auth/limited-key.ts'
import type { NeededScope } from '../../access/auth/scopes.ts'
import type { ErrorCode } from '../../core/error-catalogue.ts'
import type { Tag } from './openapi/tags.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * What a caller's key must grant for this route; every route that needs credentials names it.
     * `any`: good credentials are enough.
     */
    readonly scope?: NeededScope
    /** Whom it is for: users, unless it says otherwise. */
    readonly callers?: readonly CallerKind[]
    /**
     * The one interface that has this route (decisions.md#two-interfaces-on-one-address); either
     * has it when this is left out.
     */
    readonly interface?: Interface
    /** Whether a key and its secret may also come as Basic authentication: routes of readings, for simple devices. */
    readonly takesBasic?: boolean
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
  readonly #paths = new Map<string, KnownPath>()

  /** @throws Error for a route that says too little of itself: a mistake of ours, found at start */
  add({ method, url, schema = {}, config = {} }: RouteOptions): void {
    for (const one of [method].flat()) {
      // Fastify adds HEAD to each GET by itself.
      if (one === 'HEAD' || config.undocumented === true) continue
      requireDescription(`${one} ${url}`, schema)
      this.#routes.push({ method: one, url, schema, config })
      const known = this.#paths.get(url) ?? { url, pattern: patternOf(url), methods: new Set() }
      known.methods.add(one)
      if (one === 'GET') known.methods.add('HEAD')
      this.#paths.set(url, known)
    }
  }

  get all(): readonly DescribedRoute[] {
    return this.#routes
  }

  /** The methods of a path as it came in a request; none when there is no such path. */
  methodsOf(path: string): readonly string[] {
    const fitting = [...this.#paths.values()].filter(({ pattern }) => pattern.test(path))
    const chosen = fitting.find((one) => !fitting.some((other) => isWithin(other, one)))
    return [...(chosen?.methods ?? [])].toSorted()
  }

  /**
   * Methods that a path does not have, and that a path with a parameter in its place has: the router would take
   * the word of `PUT /webhooks/check` for an id. The document means the path without the parameter (OpenAPI 3.1,
   * Paths Object).
   */
  get mistakable(): readonly { readonly method: string; readonly url: string }[] {
    const paths = [...this.#paths.values()]
    return paths.flatMap((path) => {
      const wider = paths.filter((other) => isWithin(path, other))
      const methods = new Set(wider.flatMap((other) => [...other.methods]))
      return [...methods.difference(path.methods)]
        .filter((method) => method !== 'HEAD')
        .map((method) => ({ method, url: path.url }))
    })
  }
}

interface KnownPath {
  readonly url: string
  readonly pattern: RegExp
  readonly methods: Set<string>
}

/** Whether every path that fits the one also fits the other, and not the other way round. */
function isWithin(one: KnownPath, other: KnownPath): boolean {
  return other.pattern.test(one.url) && !one.pattern.test(other.url)
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
