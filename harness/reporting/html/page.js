'use strict'
// Draws the report from the data in the page. Whatever comes from recordings becomes text nodes and nothing else.
const data = JSON.parse(document.getElementById('data').textContent)
const GLYPHS = { pass: '✔', lossy: '◐', wrong: '✘', crash: '✷', hang: '⧖', unsupported: '–', harness_error: '!' }
const WORST = ['unsupported', 'pass', 'lossy', 'wrong', 'crash', 'hang', 'harness_error']
const FILTERS = ['dialect', 'provider', 'fault', 'grade', 'search']
const STEP = 200 // rows of a list that are drawn at once
const main = document.getElementById('main')
const cells = data.cells.map(([adapter, cassette, fault, check, grade, known, findings]) => {
  const [id, dialect, provider, feature] = data.cassettes[cassette]
  const told = { adapter: data.adapters[adapter].name, id, dialect, provider, feature, fault: data.faults[fault], check: data.checks[check] }
  return { ...told, grade: data.grades[grade], known, findings: findings.map((at) => finding(data.findings[at])) }
})
cells.forEach((cell, at) => { cell.at = at })

function finding([kind, level, message, frame, span, path, expected, got, blame, known]) {
  return { kind: data.kinds[kind], level, message, frame, span, path, expected, got, blame, known }
}

function el(name, props = {}, ...inner) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value)
    else if (value !== undefined && value !== false) made.setAttribute(key, value)
  }
  made.append(...inner.flat().filter((part) => part !== undefined && part !== null && part !== ''))
  return made
}

const link = (to, ...inner) => el('a', { href: '#/' + to.map(encodeURIComponent).join('/') + query() }, ...inner)
const show = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 1) ?? 'nothing')
const badge = (grade, count) => el('span', { class: `g ${grade}` }, `${GLYPHS[grade]} ${count === undefined ? '' : count.toLocaleString('en') + ' '}${grade.replace('_', ' ')}`)
const count = (many, noun) => `${many.toLocaleString('en')} ${noun}${many === 1 ? '' : 's'}`
const good = (cell) => cell.grade === 'pass' || Boolean(cell.known)
const asked = (cell) => cell.grade !== 'unsupported' && cell.grade !== 'harness_error'
const byGrade = ([one], [other]) => data.grades.indexOf(one) - data.grades.indexOf(other)
const effective = (cell) => (cell.known ? 'pass' : cell.grade)

// the state of the page stands in the fragment: a view can be sent to somebody

function query() {
  const set = FILTERS.map((id) => [id, document.getElementById(id).value]).filter(([, value]) => value)
  return set.length ? '?' + new URLSearchParams(set) : ''
}

function place() {
  const [path, search = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const wanted = new URLSearchParams(search)
  for (const id of FILTERS) document.getElementById(id).value = wanted.get(id) ?? ''
  return path.split('/').filter((step) => step).map(decodeURIComponent)
}

function chosen() {
  const [dialect, provider, fault, grade, search] = FILTERS.map((id) => document.getElementById(id).value)
  const word = search.toLowerCase()
  return cells.filter((cell) => (!dialect || cell.dialect === dialect) && (!provider || cell.provider === provider) &&
    (!fault || cell.fault.name === fault) && (!grade || cell.grade === grade) && (!word || text(cell).includes(word)))
}

function text(cell) {
  cell.text ??= [cell.adapter, cell.id, cell.fault.name, cell.check, ...cell.findings.flatMap((f) => [f.kind.name, f.message])].join(' ').toLowerCase()
  return cell.text
}

function grouped(list, key) {
  const groups = new Map()
  for (const item of list) {
    const name = key(item)
    if (!groups.has(name)) groups.set(name, [])
    groups.get(name).push(item)
  }
  return groups
}

const worst = (list) => list.map(effective).reduce((one, other) => (WORST.indexOf(other) > WORST.indexOf(one) ? other : one), 'unsupported')
const column = (cell) => `${cell.dialect} ${cell.fault.fails ? cell.fault.name : cell.feature}`

// pages

function matrix() {
  const list = chosen()
  const dialects = [...grouped(list, (cell) => cell.dialect).keys()]
  const columns = dialects.flatMap((dialect) => {
    const mine = list.filter((cell) => cell.dialect === dialect)
    const names = [...grouped(mine, (cell) => (cell.fault.fails ? 1 : 0) + (cell.fault.fails ? cell.fault.name : cell.feature)).keys()].sort()
    return names.map((name) => ({ dialect, name: name.slice(1) }))
  })
  const held = grouped(list, (cell) => `${cell.adapter} ${column(cell)}`)
  const head = el('tr', {}, el('th', { scope: 'col', rowspan: 2 }, 'Adapter'), ...dialects.map((dialect) =>
    el('th', { scope: 'colgroup', colspan: columns.filter((c) => c.dialect === dialect).length }, dialect)))
  const names = el('tr', {}, ...columns.map((c) => el('th', { scope: 'col' }, c.name)))
  const rows = data.adapters.filter(({ name }) => list.some((cell) => cell.adapter === name)).map((adapter) => el('tr', {},
    el('th', { scope: 'row' }, link(['adapter', adapter.name], adapter.name), el('span', { class: 'soft' }, ` ${adapter.version} ${adapter.language}`)),
    ...columns.map((c) => matrixCell(adapter.name, c, held.get(`${adapter.name} ${c.dialect} ${c.name}`) ?? []))))
  main.replaceChildren(
    el('h2', {}, 'Matrix'),
    el('p', { class: 'soft' }, `n of m: of m cells that could be asked, n are right; the sign is that of the worst. ${count(list.length, 'cell')} shown. `,
      ...[...grouped(list, (cell) => cell.grade)].sort(byGrade).map(([grade, mine]) => [badge(grade, mine.length), ' '])),
    rows.length ? el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Matrix' }, el('table', {}, el('thead', {}, head, names), el('tbody', {}, ...rows)))
      : el('p', {}, 'No cell is left by these filters.'))
}

function matrixCell(adapter, { dialect, name }, list) {
  if (!list.length) return el('td', {}, '')
  const able = list.filter(asked)
  if (!able.length) return el('td', { class: 'cell' }, link(['cases', adapter, dialect, name], `– ${list.length} unsupported`))
  const sign = worst(able)
  return el('td', { class: `cell ${sign}` }, link(['cases', adapter, dialect, name], `${GLYPHS[sign]} ${able.filter(good).length} of ${able.length}`))
}

function cases([adapter, dialect, name]) {
  const list = chosen().filter((cell) => (!adapter || cell.adapter === adapter) && (!dialect || column(cell) === `${dialect} ${name}`))
  main.replaceChildren(el('h2', {}, adapter ? `${adapter} · ${dialect} · ${name}` : 'Cases'), listed(list))
}

function listed(list, bad = list) {
  const order = [...bad].sort((one, other) => WORST.indexOf(effective(other)) - WORST.indexOf(effective(one)))
  const ul = el('ul', { class: 'plain' })
  const more = el('button', { type: 'button', onclick: () => draw() }, 'Show more')
  let drawn = 0
  const draw = () => {
    ul.append(...order.slice(drawn, drawn + STEP).map(item))
    drawn += STEP
    more.hidden = drawn >= order.length
  }
  draw()
  return el('div', {}, el('p', { class: 'soft' }, count(order.length, 'case')), ul, more)
}

function item(cell) {
  const first = cell.findings.find((f) => f.level !== 'info') ?? cell.findings[0]
  return el('li', {}, badge(cell.grade), ' ', link(['case', String(cell.at)], `${cell.adapter} · ${cell.id}`),
    el('span', { class: 'soft' }, `${cell.fault.name === 'none' ? '' : ' · ' + cell.fault.name} · ${cell.check}${cell.known ? ' · known: ' + cell.known : ''}`),
    first ? el('div', {}, first.message.slice(0, 300)) : '')
}

function oneCase([at]) {
  const cell = cells[Number(at)]
  if (!cell) return missing()
  const fault = cell.fault.name === 'none' ? '' : ` --fault ${cell.fault.name}`
  const again = `streamproof run cassettes/${cell.id}.yaml${cell.adapter === 'ours' && !fault ? '' : ` --adapter ${cell.adapter}`}${fault}`
  main.replaceChildren(
    el('h2', {}, badge(cell.grade), ` ${cell.adapter} · ${cell.id}${cell.fault.name === 'none' ? '' : ' · ' + cell.fault.name}`),
    el('p', { class: 'soft' }, `${cell.dialect} · `, link(['provider', cell.provider], cell.provider), ` · ${cell.check}`, cell.known ? ` · known: ${cell.known}` : ''),
    ...cell.findings.map(told),
    el('h3', {}, 'Again'), el('pre', { tabindex: 0 }, again), viewer(cell))
  main.querySelector('[data-first]')?.click()
}

function told(f) {
  const compares = f.expected !== null || f.got !== null
  return el('section', {}, el('h3', {}, link(['rule', f.kind.name], f.kind.name), ` ${f.level}`, f.path ? el('span', { class: 'mono soft' }, ` ${f.path}`) : ''),
    el('p', {}, f.message, f.blame ? ` (${f.blame})` : ''),
    compares ? el('div', { class: 'diff' }, side('expected', show(f.expected), show(f.got)), side('observed', show(f.got), show(f.expected))) : '')
}

function side(title, value, other) {
  let from = 0
  while (from < value.length && value[from] === other[from]) from++
  let end = 0
  while (end < value.length - from && end < other.length - from && value.at(-1 - end) === other.at(-1 - end)) end++
  const to = value.length - end
  return el('div', {}, el('h4', {}, title), el('pre', { tabindex: 0 }, value.slice(0, from), el('mark', {}, value.slice(from, to)), value.slice(to)))
}

// the stream viewer

function viewer(cell) {
  const fault = cell.fault.name === 'byte-by-byte' ? 'none' : cell.fault.name
  const stream = data.streams[`${cell.id} ${fault}`]
  if (!stream) return el('p', { class: 'soft' }, 'The stream is not in this report (there is room for the first of what fails).')
  const hits = new Map(cell.findings.filter((f) => f.frame !== null).map((f) => [f.frame, f]))
  const bytes = el('section', { 'aria-live': 'polite' })
  const turn = el('section', {})
  const buttons = stream.frames.map((frame, at) => {
    const [index, time, size, kind, body] = frame
    const name = kind || /"type": ?"([\w.]+)"/.exec(body)?.[1] || body.slice(0, 60)
    return el('button', { type: 'button', 'aria-pressed': 'false', class: hits.has(index) ? 'hit' : undefined, 'data-first': firstHit(stream, hits) === at ? '' : undefined,
      onclick: () => choose(at) }, el('span', { class: 'num' }, String(index)), el('span', { class: 'num' }, `${time} ms`), el('span', { class: 'num' }, `${size} B`), el('span', {}, name))
  })
  const marks = strip(stream, hits)
  let now = 0
  function choose(at) {
    now = Math.max(0, Math.min(buttons.length - 1, at))
    buttons.forEach((button, number) => button.setAttribute('aria-pressed', String(number === now)))
    marks.rects.forEach((rect, number) => rect.classList.toggle('now', number === now))
    buttons[now].scrollIntoView({ block: 'nearest' })
    bytes.replaceChildren(...frameShown(stream.frames[now], hits))
    turn.replaceChildren(...stateShown(stream, now))
  }
  keys = { j: () => { choose(now + 1); buttons[now].focus() }, k: () => { choose(now - 1); buttons[now].focus() } }
  return el('section', { 'aria-label': 'Stream' }, el('h3', {}, `Stream: ${count(stream.frames.length, 'frame')}${stream.more ? ' (the first of them)' : ''}, status ${stream.status}, ended by ${stream.ending}`),
    el('p', { class: 'soft' }, 'Arrival of the frames; j and k step through them.'), marks.svg,
    el('div', { class: 'viewer' }, el('section', {}, el('ul', { class: 'rows' }, ...buttons.map((button) => el('li', {}, button)))), bytes, turn))
}

function firstHit(stream, hits) {
  const at = stream.frames.findIndex(([index]) => hits.has(index))
  return at < 0 ? stream.frames.length - 1 : at
}

function strip(stream, hits) {
  const ns = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(ns, 'svg')
  svg.setAttribute('class', 'strip')
  svg.setAttribute('viewBox', '0 0 1000 34')
  svg.setAttribute('preserveAspectRatio', 'none')
  svg.setAttribute('role', 'img')
  const last = Math.max(1, stream.frames.at(-1)?.[1] ?? 1)
  svg.setAttribute('aria-label', `Arrival times of ${stream.frames.length} frames over ${last} milliseconds`)
  const most = Math.max(...stream.frames.map((frame) => frame[2]), 1)
  const rects = stream.frames.map(([index, time, size]) => {
    const rect = document.createElementNS(ns, 'rect')
    const high = 6 + 26 * Math.sqrt(size / most)
    for (const [name, value] of Object.entries({ x: (time / last) * 992, width: 3, y: 34 - high, height: high })) rect.setAttribute(name, value)
    if (hits.has(index)) rect.classList.add('hit')
    svg.append(rect)
    return rect
  })
  return { svg, rects }
}

function frameShown([index, time, size, kind, body, span], hits) {
  const hit = hits.get(index)
  const inside = hit?.span && hit.span[0] > span[0] ? body.indexOf(show(hit.got)) : -1
  const shown = inside < 0 ? [hit ? el('mark', {}, body) : body] : [body.slice(0, inside), el('mark', {}, show(hit.got)), body.slice(inside + show(hit.got).length)]
  return [el('h4', {}, `Frame ${index}${kind ? ' · ' + kind : ''} · bytes ${span[0].toLocaleString('en')}–${span[1].toLocaleString('en')} · ${time} ms`),
    el('pre', { tabindex: 0 }, ...shown), hit ? el('p', { class: 'g wrong' }, hit.message.slice(0, 300)) : '']
}

function stateShown(stream, now) {
  const body = new Map()
  const change = (edits, touched) => {
    for (const [op, path, value] of edits) {
      if (op === 'note' || op === 'fail') continue
      body.set(path, (op === 'concat' || op === 'append') && body.has(path) ? body.get(path) + (op === 'append' ? ' , ' : '') + value : value)
      touched?.add(path)
    }
  }
  const touched = new Set()
  stream.frames.slice(0, now).forEach((frame) => change(frame[6]))
  change(stream.frames[now][6], touched)
  const notes = stream.frames[now][6].filter(([op]) => op === 'note' || op === 'fail').map(([op, , value]) => el('li', {}, `${op}: ${value}`))
  const rows = [...body].map(([path, value]) => el('tr', {}, el('th', { scope: 'row', class: 'mono' }, path || '/'),
    el('td', { class: 'mono' }, touched.has(path) ? el('mark', {}, value.slice(-400)) : value.slice(-400))))
  return [el('h4', {}, 'The body as it stands now; what this frame changed is marked'), el('ul', {}, ...notes),
    el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Body' }, el('table', {}, el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'place'), el('th', { scope: 'col' }, 'value'))), el('tbody', {}, ...rows)))]
}

// adapters, providers, rules, faults

function index(title, names, to) {
  const list = chosen()
  main.replaceChildren(el('h2', {}, title), el('ul', { class: 'plain' }, ...names(list).map(([name, mine, says]) => el('li', {}, link([to, name], name), ' ',
    ...[...grouped(mine, effective)].sort(byGrade).map(([grade, group]) => [badge(grade, group.length), ' ']), says ? el('div', { class: 'soft' }, says) : ''))))
}

const failing = (list) => list.filter((cell) => !good(cell) && cell.grade !== 'unsupported')

function adapter([name]) {
  const about = data.adapters.find((each) => each.name === name)
  if (!about) return missing()
  const mine = chosen().filter((cell) => cell.adapter === name)
  main.replaceChildren(el('h2', {}, `${name} ${about.version}`), el('p', {}, [about.language, ...about.packages].filter(Boolean).join(' · ')),
    about.omits.length ? el('p', { class: 'soft' }, `Its own types have no place for: ${about.omits.join(', ')}.`) : '', listed(mine, failing(mine)))
}

function provider([name]) {
  const mine = chosen().filter((cell) => cell.provider === name)
  main.replaceChildren(el('h2', {}, `Provider ${name}`), listed(mine, failing(mine)))
}

function rule([name]) {
  const kind = data.kinds.find((each) => each.name === name)
  if (!kind) return missing()
  const mine = chosen().filter((cell) => cell.findings.some((f) => f.kind.name === name))
  const part = (title, value) => (value ? [el('h3', {}, title), el('p', {}, value)] : [])
  const code = (title, value) => (value ? [el('h3', {}, title), el('pre', { tabindex: 0 }, value)] : [])
  main.replaceChildren(el('h2', {}, name), el('p', {}, kind.says), ...part('Why', kind.why), ...part('Source', kind.source), ...code('Bad', kind.bad), ...code('Good', kind.good),
    ...part('Seen at', kind.seen), el('h3', {}, 'Who'), listed(mine))
}

function fault([name]) {
  const about = data.faults.find((each) => each.name === name)
  if (!about) return missing()
  const mine = chosen().filter((cell) => cell.fault.name === name)
  main.replaceChildren(el('h2', {}, `Fault ${name}`), el('p', {}, about.what), el('p', { class: 'soft' }, about.fails ? 'The client must say that the turn failed.' : 'The turn must come out the same.'), listed(mine, failing(mine)))
}

function about() {
  const run = data.run
  const row = (name, value) => el('tr', {}, el('th', { scope: 'row' }, name), el('td', {}, value))
  const trend = data.trend.map((point) => el('tr', {}, el('th', { scope: 'row' }, `${point.on} · ${point.streamproof}`), el('td', {}, ...Object.entries(point.grades).map(([grade, many]) => [badge(grade, many), ' ']), ` of ${point.cells}`)))
  main.replaceChildren(el('h2', {}, 'About this run'), el('table', {}, el('tbody', {}, row('streamproof', run.streamproof), row('Python', run.python), row('date', String(run.on ?? 'not told')),
    row('selection', run.selection.join(', ')), row('adapters', Object.entries(run.adapters).map((pair) => pair.join(' ')).join(', ')), row('cells', cells.length.toLocaleString('en')),
    row('not asked', `${cells.filter((cell) => cell.grade === 'unsupported').length.toLocaleString('en')} unsupported, ${cells.filter((cell) => cell.grade === 'harness_error').length} spoiled by the harness`),
    row('streams', `${Object.keys(data.streams).length} in this file, ${data.left_out} left out`))),
    trend.length ? el('h3', {}, 'Trend, the oldest first') : '', trend.length ? el('table', {}, el('tbody', {}, ...trend)) : '',
    el('h3', {}, 'How to read it'), el('p', {}, 'Expected is what the bytes or the twin say, observed is what the system under test returned. Pass: every fact is right, or the failure was told. Lossy: a fact stands in raw data only, or the only sign of a failure is that no finish reason is told. Wrong: a false fact, a lost one, or a failure reported as success. Unsupported cells could not be asked, and harness errors are our own fault: neither counts against anybody.'))
}

function missing() {
  main.replaceChildren(el('h2', {}, 'Nothing here'), el('p', {}, 'This address names nothing in this report. ', link([], 'Back to the matrix')))
}

const PAGES = {
  '': matrix, cases, case: oneCase, adapter, provider, rule, fault, about,
  adapters: () => index('Adapters', (list) => [...grouped(list, (cell) => cell.adapter)], 'adapter'),
  providers: () => index('Providers', (list) => [...grouped(list, (cell) => cell.provider)].sort(), 'provider'),
  rules: () => index('Rules and kinds of findings', (list) => data.kinds.map((kind) => [kind.name, list.filter((cell) => cell.findings.some((f) => f.kind === kind)), kind.says]).filter(([, mine]) => mine.length), 'rule'),
  faults: () => index('Faults', (list) => data.faults.map((each) => [each.name, list.filter((cell) => cell.fault === each), each.what]), 'fault'),
}
let keys = {}

function draw() {
  const [page = '', ...steps] = place()
  keys = {}
  ;(PAGES[page] ?? missing)(steps)
  for (const a of document.querySelectorAll('nav a')) {
    const mine = a.getAttribute('href').slice(2).split('?')[0] === page
    mine ? a.setAttribute('aria-current', 'page') : a.removeAttribute('aria-current')
    a.setAttribute('href', '#/' + a.getAttribute('href').slice(2).split('?')[0] + query())
  }
}

for (const [id, values] of [['dialect', cells.map((c) => c.dialect)], ['provider', cells.map((c) => c.provider)], ['fault', cells.map((c) => c.fault.name)], ['grade', data.grades]]) {
  document.getElementById(id).append(...[...new Set(values)].sort().map((value) => el('option', { value }, value)))
}
const form = document.getElementById('filters')
const filtered = () => { location.hash = '#/' + location.hash.replace(/^#\/?/, '').split('?')[0] + query() }
form.addEventListener('input', filtered)
form.addEventListener('submit', (event) => event.preventDefault())
form.addEventListener('reset', () => setTimeout(filtered))
addEventListener('hashchange', draw)
addEventListener('keydown', (event) => {
  if (!['INPUT', 'SELECT'].includes(event.target.tagName) && keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) keys[event.key]()
})
document.getElementById('what').textContent = `${data.run.streamproof} · ${data.run.on ?? ''} · ${count(data.adapters.length, 'adapter')} · ${count(data.cassettes.length, 'cassette')} · ${count(cells.length, 'cell')}`
draw()
