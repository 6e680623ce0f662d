import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import { DomainError } from '../../src/core/errors.ts'
import type { UserId } from '../../src/core/ids.ts'
import type { Template } from '../../src/twins/templates/template.ts'
import { type TemplateQuery, TemplateStore } from '../../src/twins/templates/template-store.ts'
import { TestState } from '../support/test-state.ts'

/** A clock that several templates share a moment of: their ids have to tell the order. */
class SlowClock implements Clock {
  #reads = 0
  nowUs(): number {
    return Math.floor(this.#reads++ / 3)
  }
}

interface Noted {
  readonly name: string
  readonly public: boolean
}

class Subject implements AsyncDisposable {
  readonly #state: TestState
  readonly store: TemplateStore
  readonly owner: UserId
  readonly other: UserId

  static async open(): Promise<Subject> {
    const state = await TestState.open()
    return new Subject(state, await state.newUser(), await state.newUser())
  }

  private constructor(state: TestState, owner: UserId, other: UserId) {
    this.#state = state
    this.owner = owner
    this.other = other
    this.store = new TemplateStore({ state: state.state, writer: state, clock: new SlowClock() })
  }

  async create(ownerId: UserId, noted: Noted): Promise<Template> {
    const [template] = await this.createAll(ownerId, [noted])
    return template as Template
  }

  /** Many in one commit. */
  async createAll(ownerId: UserId, all: readonly Noted[]): Promise<Template[]> {
    const planning = all.map(({ name, public: isPublic }) =>
      this.store.plan(ownerId, {
        name,
        description: null,
        author: null,
        public: isPublic,
        hint: '',
        requiredStreams: [],
      }),
    )
    const plans = await Promise.all(planning)
    expect(await this.#state.attempt(...plans.flatMap(({ changes }) => changes))).toBe(true)
    return plans.map(({ template }) => template)
  }

  query(changes: Partial<TemplateQuery> = {}): TemplateQuery {
    return {
      userId: this.owner,
      publicOnly: false,
      searchTerm: '',
      sortBy: 'created_at',
      sortType: 'asc',
      ...changes,
    }
  }

  /** Every page of a list, one after the other, and the totals that they told. */
  async pages(query: TemplateQuery, limit: number) {
    const names: string[] = []
    const totals = new Set<number>()
    for (let offset = 0; ; offset += limit) {
      const { templates, total } = await this.store.list(query, { offset, limit })
      totals.add(total)
      names.push(...templates.map(({ id }) => id))
      expect(templates.length).toBe(Math.max(0, Math.min(limit, total - offset)))
      if (offset >= total) return { ids: names, totals: [...totals] }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#state[Symbol.asyncDispose]()
  }
}

/** What a list should hold, by comparing everything with everything. */
function expected(templates: readonly Template[], query: TemplateQuery): string[] {
  const key = ({ name, createdAtUs }: Template) =>
    query.sortBy === 'name' ? name.toLowerCase() : createdAtUs
  const compare = (left: Template, right: Template) => {
    if (key(left) !== key(right)) return key(left) < key(right) ? -1 : 1
    return left.id < right.id ? -1 : 1
  }
  const listed = templates
    .filter((one) => (query.publicOnly ? one.public : one.ownerId === query.userId))
    .filter(({ name }) => name.toLowerCase().includes(query.searchTerm.toLowerCase()))
    .toSorted(compare)
    .map(({ id }) => id)
  return query.sortType === 'asc' ? listed : listed.toReversed()
}

const letters = fc.string({ unit: fc.constantFrom('a', 'A', 'b', '%', '_', '\\', 'ä', 'Ä') })
const noted = fc.record({
  name: fc.tuple(letters).map(([name]) => `${name}.`),
  public: fc.boolean(),
})

const queries = fc.record({
  publicOnly: fc.boolean(),
  searchTerm: fc.oneof(fc.constant(''), letters),
  sortBy: fc.constantFrom('created_at' as const, 'name' as const),
  sortType: fc.constantFrom('asc' as const, 'desc' as const),
})

describe('a list of templates', () => {
  test('has on its pages, in order, what it should: for any templates, filter, order and page size', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.tuple(fc.boolean(), noted), { maxLength: 25 }),
      fc.array(queries, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 7 }),
      async (wanted, asked, limit) => {
        await using subject = await Subject.open()
        const templates: Template[] = []
        for (const [isOwn, one] of wanted) {
          templates.push(await subject.create(isOwn ? subject.owner : subject.other, one))
        }
        for (const changes of asked) {
          const query = subject.query(changes)
          const listed = expected(templates, query)
          const { ids, totals } = await subject.pages(query, limit)
          expect(ids).toEqual(listed)
          expect(totals).toEqual([listed.length])
        }
      },
    )
    await fc.assert(property, { numRuns: 30 })
  })

  test('keeps its totals through changes and removals', async () => {
    const step = fc.record({
      what: fc.constantFrom('create' as const, 'change' as const, 'remove' as const),
      which: fc.nat(),
      public: fc.boolean(),
    })
    const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await using subject = await Subject.open()
      let templates: Template[] = []
      for (const { what, which, public: isPublic } of steps) {
        const one = templates[which % templates.length]
        if (what === 'create' || !one) {
          templates.push(await subject.create(subject.owner, { name: 'x', public: isPublic }))
        } else if (what === 'change') {
          expect(await subject.store.change(one, { public: isPublic })).toBe(true)
          templates = templates.map((each) => (each === one ? { ...each, public: isPublic } : each))
        } else {
          expect(await subject.store.remove(one)).toBe(true)
          templates = templates.filter((each) => each !== one)
        }
      }
      for (const publicOnly of [false, true]) {
        const query = subject.query({ publicOnly })
        expect((await subject.pages(query, 10)).ids).toEqual(expected(templates, query))
      }
    })
    await fc.assert(property, { numRuns: 30 })
  })

  test('does not count a change of something that is no longer what was read', async () => {
    await using subject = await Subject.open()
    const template = await subject.create(subject.owner, { name: 'x', public: false })
    await subject.store.change(template, { public: true })

    expect(await subject.store.change(template, { public: true })).toBe(false)
    expect(await subject.store.remove(template)).toBe(false)
    const { total } = await subject.store.list(subject.query({ publicOnly: true }), {
      offset: 0,
      limit: 1,
    })
    expect(total).toBe(1)
  })
})

describe('a search', () => {
  test('finds matches in lists of any length, on any page', async () => {
    await using subject = await Subject.open()
    // Longer than what is looked at in one go, twice.
    const notes = Array.from({ length: 20_050 }, (_, index) => ({
      name: index % 100 === 99 ? `valve ${index}` : `pump ${index}`,
      public: false,
    }))
    const templates = await subject.createAll(subject.owner, notes)

    for (const sortType of ['asc', 'desc'] as const) {
      for (const sortBy of ['created_at', 'name'] as const) {
        const query = subject.query({ searchTerm: 'VALVE', sortType, sortBy })
        const { ids, totals } = await subject.pages(query, 60)
        expect(ids).toEqual(expected(templates, query))
        expect(totals).toEqual([200])
      }
    }
  })

  test('is refused when too many wait for their turn, and served again later', async () => {
    await using subject = await Subject.open()
    await subject.create(subject.owner, { name: 'valve', public: false })
    const search = (userId: string) =>
      subject.store.list(subject.query({ searchTerm: 'v', userId: userId as UserId }), {
        offset: 0,
        limit: 10,
      })
    /** Ten searches of each of so many users, all at once: how many are refused. */
    const refusedOf = async (users: readonly string[]): Promise<number> => {
      const all = users.flatMap((userId) => Array.from({ length: 10 }, () => search(userId)))
      const results = await Promise.allSettled(all)
      const refused = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      expect(refused.every((one) => one instanceof DomainError && one.code === 'overloaded')).toBe(
        true,
      )
      return refused.length
    }

    // Four of each, and sixteen of all.
    expect(await refusedOf(['ada'])).toBe(6)
    expect(await refusedOf(['ada', 'bob'])).toBe(12)
    expect(await refusedOf(['ada', 'bob', 'carl', 'dora', 'eve'])).toBe(50 - 16)
    expect((await search(subject.owner)).total).toBe(1)
  })
})
