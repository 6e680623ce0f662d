import type { RefObject } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { Dialog } from '../../components/dialog.tsx'
import { FailureText } from '../../components/states.tsx'
import type { Found } from './found.ts'
import { type FoundGroup, useFound } from './use-found.ts'

/** Finds everything by its name or id: arrows choose, Enter opens, Esc closes. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const { route } = useLocation()
  const listId = useId()
  const box = useRef<HTMLInputElement>(null)
  const { groups, isSearching } = useFound(text)
  const all = groups.flatMap(({ found }) => found)
  const chosen = Math.min(at, all.length - 1)
  const [isOpening, setOpening] = useState(false)
  const open = (found: Found | undefined) => {
    if (found === undefined) return
    onClose()
    route(found.href)
  }
  useEffect(() => {
    // Enter was pressed before the answers were there: what was found by then is of another text.
    if (isOpening && !isSearching) open(all[chosen])
    if (!isSearching) setOpening(false)
  }, [isOpening, isSearching])
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => setAt(Math.min(all.length - 1, chosen + 1)),
    ArrowUp: () => setAt(Math.max(0, chosen - 1)),
    Enter: () => setOpening(true),
  }
  return (
    <Dialog title="Search" onClose={onClose} focusFirst={box}>
      <SearchBox
        box={box}
        listId={listId}
        text={text}
        activeId={all.length > 0 ? `${listId}-${chosen}` : undefined}
        onText={(next) => {
          setText(next)
          setAt(0)
          setOpening(false)
        }}
        onKey={(event) => {
          const act = keys[event.key]
          if (act === undefined || event.isComposing) return
          event.preventDefault()
          act()
        }}
      />
      <div class="shell-found">
        <FoundList listId={listId} groups={groups} chosen={chosen} onOpen={open} />
        <p class="soft" role="status">
          {summary(text, all.length, isSearching)}
        </p>
      </div>
    </Dialog>
  )
}

interface SearchBoxProps {
  readonly box: RefObject<HTMLInputElement | null>
  readonly listId: string
  readonly text: string
  readonly activeId: string | undefined
  readonly onText: (text: string) => void
  readonly onKey: (event: KeyboardEvent) => void
}

function SearchBox({ box, listId, text, activeId, onText, onKey }: SearchBoxProps) {
  return (
    <input
      ref={box}
      class="control"
      role="combobox"
      aria-label="Name or id of anything"
      aria-expanded={activeId !== undefined}
      aria-controls={listId}
      aria-activedescendant={activeId}
      aria-autocomplete="list"
      autocomplete="off"
      spellcheck={false}
      placeholder="Name or id"
      value={text}
      onInput={(event) => onText(event.currentTarget.value)}
      onKeyDown={onKey}
    />
  )
}

interface FoundListProps {
  readonly listId: string
  readonly groups: readonly FoundGroup[]
  readonly chosen: number
  readonly onOpen: (found: Found) => void
}

function FoundList({ listId, groups, chosen, onOpen }: FoundListProps) {
  useEffect(() => {
    document.getElementById(`${listId}-${chosen}`)?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  let before = 0
  return (
    <>
      {/* A list of nothing would have no members, which a listbox has to have. */}
      <div
        id={listId}
        role={groups.some(({ found }) => found.length > 0) ? 'listbox' : undefined}
        aria-label="Found"
      >
        {groups.map(({ name, found }) => {
          const first = before
          before += found.length
          if (found.length === 0) return null
          return (
            <div key={name} role="group" aria-label={name}>
              <h3 role="presentation">{name}</h3>
              {found.map((one, index) => (
                <FoundOption
                  key={one.href}
                  id={`${listId}-${first + index}`}
                  found={one}
                  isChosen={first + index === chosen}
                  onOpen={onOpen}
                />
              ))}
            </div>
          )
        })}
      </div>
      {groups.map(
        ({ name, failure }) =>
          failure && (
            <div key={name} class="notice bad" role="alert">
              <h3>{name}</h3>
              <FailureText failure={failure} />
            </div>
          ),
      )}
    </>
  )
}

interface FoundOptionProps {
  readonly id: string
  readonly found: Found
  readonly isChosen: boolean
  readonly onOpen: (found: Found) => void
}

/** The focus stays in the box: the option is chosen by its keys. */
function FoundOption({ id, found, isChosen, onOpen }: FoundOptionProps) {
  return (
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      onClick={() => onOpen(found)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') onOpen(found)
      }}
    >
      <bdi title={found.name}>{found.name}</bdi>
      <bdi class="soft mono">{found.beside}</bdi>
    </div>
  )
}

function summary(text: string, found: number, isSearching: boolean): string {
  if (isSearching) return 'Searching'
  if (text.trim() === '') return 'Type a part of a name, or an id.'
  return found === 0 ? 'Nothing has this in its name or id.' : `${found} found`
}
