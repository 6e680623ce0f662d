import type { ApiClient } from './api-client.ts'
import { createKey, createUser, newUsername, type Person, personOf } from './people.ts'
import type { SettableClock } from './settable-clock.ts'
import { minuteMs, people, type SharedKind, type SharingDeed } from './sharing-deeds.ts'
import { newAssetCode, type ShownAttachment, upload } from './uploads.ts'

type Kind = SharedKind | 'attachment'
type Right = 'own' | 'write' | 'read' | 'none'

interface Thing {
  readonly kind: Kind
  readonly id: string
  readonly owner: Somebody
  readonly createdAt: string
  /** The asset stream of an attachment. */
  readonly stream?: Thing
  isPublic: boolean
  isThere: boolean
}

interface Grant {
  readonly id: string
  readonly thing: Thing
  readonly to: Somebody
  role: 'READ' | 'WRITE'
  untilMs: number | undefined
  isOver: boolean
}

interface Somebody extends Person {
  readonly username: string
  hasLeft: boolean
}

/** Something that was answered otherwise than the model says. */
export type Difference = readonly [what: string, wanted: unknown, answered: unknown]

const folders: Readonly<Record<Kind, string>> = {
  vault: '/vaults',
  stream: '/streams',
  attachment: '/attachments',
}

/**
 * Three people who share what they have, and a model of what each of them may see and do. Every deed is done by the
 * API, also the ones that it has to refuse.
 */
export class SharingWorld {
  readonly differences: Difference[] = []
  readonly #api: ApiClient
  readonly #clock: SettableClock
  readonly #templateId: string
  readonly #people: readonly Somebody[]
  readonly #things: Thing[] = []
  readonly #grants: Grant[] = []

  private constructor(needs: WorldNeeds, somebodies: readonly Somebody[]) {
    this.#api = needs.api
    this.#clock = needs.clock
    this.#templateId = needs.templateId
    this.#people = somebodies
  }

  static async of(needs: WorldNeeds): Promise<SharingWorld> {
    const somebodies: Somebody[] = []
    for (let number = 0; number < people; number++) {
      const username = newUsername()
      const userId = await createUser(needs.api, username)
      const key = await createKey(needs.api, { userId })
      somebodies.push({ ...personOf(needs.api, key), username, hasLeft: false })
    }
    return new SharingWorld(needs, somebodies)
  }

  async do(deed: SharingDeed): Promise<void> {
    switch (deed.does) {
      case 'make':
        return await this.#make(deed.kind, this.#person(deed.actor))
      case 'attach':
        return await this.#attach(this.#person(deed.actor), this.#thing(deed.what, ['stream']))
      case 'grant':
        return await this.#grant(deed)
      case 'change':
      case 'revoke':
        return await this.#changeOrRevoke(deed)
      case 'publish':
        return await this.#publish(this.#thing(deed.what, ['vault']), deed.isPublic)
      case 'delete':
        return await this.#delete(this.#person(deed.actor), this.#thing(deed.what))
      case 'wait':
        return await this.#pass(deed.passMs)
      case 'leave':
        return await this.#leave(this.#person(deed.who))
    }
  }

  /** Compares what each of them is shown now with the model, by every way that shows it. */
  async look(): Promise<void> {
    for (const somebody of this.#people.filter(({ hasLeft }) => !hasLeft)) {
      await this.#lookAtLists(somebody)
      for (const thing of this.#things) await this.#lookAt(somebody, thing)
    }
  }

  #person(number: number): Somebody {
    return this.#people[number % people] as Somebody
  }

  #thing(number: number, kinds: readonly Kind[] = ['vault', 'stream', 'attachment']) {
    const some = this.#things.filter(({ kind }) => kinds.includes(kind))
    return some[number % Math.max(1, some.length)]
  }

  #isInForce({ thing, to, untilMs, isOver }: Grant): boolean {
    if (isOver || !thing.isThere || to.hasLeft || thing.owner.hasLeft) return false
    return untilMs === undefined || untilMs > this.#clock.nowMs()
  }

  #rightOf(somebody: Somebody, thing: Thing, alsoPublic = true): Right {
    if (thing.stream) {
      return thing.isThere ? this.#rightOf(somebody, thing.stream) : 'none'
    }
    if (!thing.isThere) return 'none'
    if (thing.owner === somebody) return 'own'
    const grant = this.#grants.find(
      (one) => one.thing === thing && one.to === somebody && this.#isInForce(one),
    )
    if (grant) return grant.role === 'WRITE' ? 'write' : 'read'
    return thing.isPublic && alsoPublic ? 'read' : 'none'
  }

  #expect(question: string, wanted: unknown, answered: unknown): void {
    if (JSON.stringify(wanted) !== JSON.stringify(answered)) {
      this.differences.push([question, wanted, answered])
    }
  }

  async #make(kind: SharedKind, actor: Somebody): Promise<void> {
    if (actor.hasLeft) return
    const body =
      kind === 'vault'
        ? { template_id: this.#templateId, name: 'a vault', public: false }
        : { asset_code: newAssetCode(), description: null }
    const { status, body: made } = await actor.withKey<Made>('POST', folders[kind], body)
    this.#expect(`making a ${kind}`, 201, status)
    this.#add({ kind, id: made.id, owner: actor, createdAt: made.created_at })
  }

  #add(thing: Omit<Thing, 'isPublic' | 'isThere'>): void {
    this.#things.push({ ...thing, isPublic: false, isThere: true })
  }

  async #attach(actor: Somebody, stream: Thing | undefined): Promise<void> {
    if (!stream || actor.hasLeft) return
    const right = this.#rightOf(actor, stream)
    const wanted = { name: 'a file', stream_id: stream.id, ledger: 'XRPL' }
    const { status, body } = await actor.withKey<ShownAttachment & Made>(
      'POST',
      '/attachments',
      wanted,
    )
    this.#expect('attaching', { own: 201, write: 201, read: 403, none: 404 }[right], status)
    if (status !== 201) return
    const uploaded = await upload(this.#api, body.presigned_url, 'hello')
    this.#expect('uploading', 200, uploaded.status)
    const { owner } = stream
    this.#add({ kind: 'attachment', id: body.id, owner, createdAt: body.created_at, stream })
  }

  async #grant(deed: SharingDeed & { does: 'grant' | 'change' }): Promise<void> {
    const thing = this.#thing(deed.what, ['vault', 'stream'])
    const [actor, to] = [this.#person(deed.actor), this.#person(deed.to)]
    if (!thing || actor.hasLeft) return
    const known = this.#grants.some(
      (one) => one.thing === thing && one.to === to && this.#isInForce(one),
    )
    const ofOwner = to === actor ? 422 : to.hasLeft ? 404 : known ? 409 : 201
    const wanted = { own: ofOwner, write: 403, read: 403, none: 404 }[this.#rightOf(actor, thing)]
    const untilMs = this.#untilMs(deed.lastsMs)
    const { status, body } = await actor.withKey<Made>(
      'POST',
      `${folders[thing.kind]}/${thing.id}/permissions`,
      { username: to.username, role: deed.role, expires_at: timeOf(untilMs) },
    )
    this.#expect('granting', wanted, status)
    if (status !== 201) return
    this.#grants.push({ id: body.id, thing, to, role: deed.role, untilMs, isOver: false })
  }

  async #changeOrRevoke(deed: SharingDeed & { does: 'change' | 'revoke' | 'grant' }) {
    const thing = this.#thing(deed.what, ['vault', 'stream'])
    const [actor, to] = [this.#person(deed.actor), this.#person(deed.to)]
    const grant = this.#grants.findLast((one) => one.thing === thing && one.to === to)
    if (!thing || !grant || actor.hasLeft) return
    const path = `${folders[thing.kind]}/${thing.id}/permissions/${grant.id}`
    const right = this.#rightOf(actor, thing)
    const done = deed.does === 'revoke' ? 204 : 200
    const ofOwner = this.#isInForce(grant) ? done : 404
    const wanted = { own: ofOwner, write: 403, read: 403, none: 404 }[right]
    if (deed.does === 'revoke') {
      const { status } = await actor.withKey('DELETE', path)
      this.#expect('revoking', wanted, status)
      if (status === 204) grant.isOver = true
      return
    }
    const untilMs = this.#untilMs(deed.lastsMs)
    const body = { role: deed.role, expires_at: timeOf(untilMs) }
    const { status } = await actor.withKey('PUT', path, body)
    this.#expect('changing', wanted, status)
    if (status === 200) Object.assign(grant, { role: deed.role, untilMs })
  }

  #untilMs(passMs: number | undefined): number | undefined {
    return passMs === undefined ? undefined : Math.round(this.#clock.nowMs()) + passMs
  }

  /** Sets the clock forward, and waits until the service shows it. */
  async #pass(passMs: number): Promise<void> {
    this.#clock.step(passMs)
    const [somebody] = this.#people.filter(({ hasLeft }) => !hasLeft)
    const fromS = Math.floor(this.#clock.nowMs() / 1_000) - minuteMs / 1_000
    if (somebody === undefined) return
    for (let atS = 0; atS < fromS; ) atS = issuedAtS(await somebody.token())
  }

  async #publish(thing: Thing | undefined, isPublic: boolean): Promise<void> {
    if (!thing?.isThere || thing.owner.hasLeft) return
    const { status } = await thing.owner.withKey('PUT', `/vaults/${thing.id}`, { public: isPublic })
    this.#expect('publishing', 200, status)
    thing.isPublic = isPublic
  }

  async #delete(actor: Somebody, thing: Thing | undefined): Promise<void> {
    if (!thing || actor.hasLeft) return
    const isInUse = this.#things.some(({ stream, isThere }) => stream === thing && isThere)
    const wanted = { own: isInUse ? 409 : 204, write: 403, read: 403, none: 404 }
    const { status } = await actor.withKey('DELETE', `${folders[thing.kind]}/${thing.id}`)
    this.#expect(`deleting a ${thing.kind}`, wanted[this.#rightOf(actor, thing)], status)
    if (status === 204) thing.isThere = false
  }

  async #leave(somebody: Somebody): Promise<void> {
    if (somebody.hasLeft || this.#people.filter(({ hasLeft }) => !hasLeft).length < 3) return
    const { status } = await this.#api.withKey('DELETE', `/users/${somebody.userId}`)
    this.#expect('leaving', 204, status)
    somebody.hasLeft = true
  }

  /** What a list shows to somebody, in its order. */
  #listed(somebody: Somebody, kind: Kind): readonly string[] {
    const isListed = (thing: Thing) => {
      const right = this.#rightOf(somebody, thing, false)
      return thing.kind === kind && right !== 'none'
    }
    return this.#things
      .filter(isListed)
      .toSorted((one, other) =>
        one.createdAt === other.createdAt
          ? compare(one.id, other.id)
          : compare(one.createdAt, other.createdAt),
      )
      .map(({ id }) => id)
  }

  async #lookAtLists(somebody: Somebody): Promise<void> {
    for (const kind of ['vault', 'stream', 'attachment'] as const) {
      const wanted = this.#listed(somebody, kind)
      const pages = await pagesOf(somebody, folders[kind])
      this.#expect(`the pages of ${kind}s`, { ids: wanted, totals: [wanted.length] }, pages)
    }
    const after = await listAfter(somebody, '/vaults')
    this.#expect('the vaults after cursors', this.#listed(somebody, 'vault'), after)
  }

  /** Every answer about one thing that somebody asks for. */
  async #lookAt(somebody: Somebody, thing: Thing): Promise<void> {
    const right = this.#rightOf(somebody, thing)
    const path = `${folders[thing.kind]}/${thing.id}`
    const seen = right === 'none' ? 404 : 200
    for (const part of partsOf[thing.kind]) {
      const { status } = await somebody.withKey('GET', `${path}${part}`)
      this.#expect(`GET ${thing.kind}${part} for ${right}`, seen, status)
    }
    if (thing.kind !== 'attachment') {
      const changed = { own: 200, write: 200, read: 403, none: 404 }[right]
      const { status } = await somebody.withKey('PUT', path, { description: 'changed' })
      this.#expect(`PUT ${thing.kind} for ${right}`, changed, status)
      const listed = await somebody.withKey<Listed>('GET', `${path}/permissions`)
      const ofOwner = { own: 200, write: 403, read: 403, none: 404 }[right]
      this.#expect(`GET permissions for ${right}`, ofOwner, listed.status)
      if (right === 'own') this.#lookAtPermissions(thing, listed.body)
    }
    if (thing.kind === 'stream' && right !== 'none') {
      const attached = this.#things.filter(({ stream, isThere }) => stream === thing && isThere)
      const { body } = await somebody.withKey<Listed>('GET', `${path}/attachments`)
      this.#expect('attachments of a stream', attached.length, body.total_records)
    }
  }

  #lookAtPermissions(thing: Thing, { content, total_records }: Listed): void {
    const wanted = this.#grants.filter((one) => one.thing === thing && this.#isInForce(one))
    this.#expect('the permissions', wanted.map(({ id }) => id).toSorted(), ids(content).toSorted())
    this.#expect('the number of permissions', wanted.length, total_records)
  }
}

export interface WorldNeeds {
  readonly api: ApiClient
  /** The wall clock of the service. */
  readonly clock: SettableClock
  /** One that everybody may use. */
  readonly templateId: string
}

interface Made {
  readonly id: string
  readonly created_at: string
}

interface Listed {
  readonly content: readonly { readonly id: string }[]
  readonly total_records: number
  readonly total_pages: number
}

const partsOf: Readonly<Record<Kind, readonly string[]>> = {
  vault: ['', '/metadata', '/proof'],
  stream: ['', '/metadata', '/proof', '/assets'],
  attachment: ['', '/content', '/files/0', '/proof', '/signatures'],
}

function issuedAtS(token: string): number {
  const [, claims = ''] = token.split('.')
  return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iat: number }).iat
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

function ids(content: readonly { readonly id: string }[]): readonly string[] {
  return content.map(({ id }) => id)
}

/** All pages of a list, small ones, and the totals that they name: one, if they agree. */
async function pagesOf(somebody: Person, path: string) {
  const found: string[] = []
  const totals = new Set<number>()
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { body } = await somebody.withKey<Listed>('GET', `${path}?page=${page}&page_size=3`)
    found.push(...ids(body.content))
    totals.add(body.total_records)
    pages = Math.max(1, body.total_pages)
  }
  return { ids: found, totals: [...totals] }
}

/** A list of the token interface, by its cursors. */
async function listAfter(somebody: Person, path: string): Promise<readonly string[]> {
  const found: string[] = []
  let next: string | undefined = `${path}?limit=2`
  while (next !== undefined) {
    const { body, headers }: { body: readonly { vaultId: string }[]; headers: Headers } =
      await somebody.withToken('GET', next)
    found.push(...body.map(({ vaultId }) => vaultId))
    next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  }
  return found
}
