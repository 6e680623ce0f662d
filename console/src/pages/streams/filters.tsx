import { X } from 'lucide'
import type { Operations } from '../../../../clients/typescript/call.ts'
import type { Resource } from '../../api/resource.ts'
import { ChoiceFilter } from '../../components/choice-filter.tsx'
import { Icon } from '../../components/icon.tsx'
import { Loaded } from '../../components/states.tsx'
import { streamStates } from '../../components/stream-state.tsx'
import { useTypedFilter } from '../../components/typed-filter.ts'
import { useQuery } from '../../routing/query.ts'
import { isFiltered, problems, sorts, tagsIn, withoutFilters } from './stream-filter.ts'

export type Vaults = Operations['listVaults']['answer']

/** Which streams are shown, and in what order; all of it is in the address. */
export function StreamFilters({ vaults }: { readonly vaults: Resource<Vaults> }) {
  const query = useQuery()
  return (
    <search class="row streams-filters">
      <NameSearch />
      <ChoiceFilter
        label="State"
        name="state"
        choices={[['', 'any'], ...streamStates.map((one) => [one, one] as const)]}
      />
      <ChoiceFilter
        label="Problem"
        name="problem"
        choices={[['', 'with or without'], ...problems]}
      />
      <VaultFilter of={vaults} />
      <ChoiceFilter label="Order" name="sort" choices={sorts} />
      <TagFilter />
      {isFiltered(query.query) && (
        <button type="button" class="button" onClick={() => query.set(withoutFilters(query.query))}>
          Show all
        </button>
      )}
    </search>
  )
}

/** Where the vaults are not known, this is the place that says why: the list has their ids instead. */
function VaultFilter({ of }: { readonly of: Resource<Vaults> }) {
  const chosen = useQuery().get('vault')
  return (
    <Loaded of={of} lines={1} isEmpty={(vaults) => vaults.length === 0}>
      {(vaults) => {
        const known = vaults.map(({ vaultId, name }) => [vaultId, name] as const)
        const isUnknown = chosen !== '' && known.every(([id]) => id !== chosen)
        const others = isUnknown ? [[chosen, chosen] as const] : []
        return (
          <ChoiceFilter label="Vault" name="vault" choices={[['', 'any'], ...known, ...others]} />
        )
      }}
    </Loaded>
  )
}

function NameSearch() {
  const { text, setText } = useTypedFilter('q')
  return (
    <input
      type="search"
      class="control streams-search"
      dir="auto"
      spellcheck={false}
      maxLength={200}
      aria-label="Part of the name, or the beginning of the id"
      placeholder="Part of the name, or an id"
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  )
}

/** Tags that streams have to have: each can be taken away, and one more is typed as `name=value`. */
function TagFilter() {
  const query = useQuery()
  const set = (name: string, value: string | undefined) =>
    query.set({ [`tag.${name}`]: value, cursor: undefined, before: undefined, page: undefined })
  return (
    <>
      {tagsIn(query.query).map(([name, value]) => (
        <button key={name} type="button" class="tag" onClick={() => set(name, undefined)}>
          <bdi>
            {name}={value}
          </bdi>
          <Icon of={X} label="Take this tag away" />
        </button>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const input = event.currentTarget.elements.namedItem('tag')
          if (!(input instanceof HTMLInputElement)) return
          const [, name, value] = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/s.exec(input.value) ?? []
          if (name === undefined || value === undefined) return
          set(name, value)
          input.value = ''
        }}
      >
        <input
          name="tag"
          class="control streams-tag"
          aria-label="Tag, as name=value"
          placeholder="tag: site=berlin"
          autocomplete="off"
          pattern="\s*[^=]+=.*"
          title="A name, an equals sign, and a value"
        />
      </form>
    </>
  )
}
