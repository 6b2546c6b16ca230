"""What an audit finds is exactly what is wrong, and its sums are every byte."""

import os
import re
import shutil
from pathlib import Path

import msgspec
import pytest

from collectord.adapter import Account, Context, Converted, Source
from collectord.audit import AuditKind
from collectord.audit.finding import NOTES
from collectord.sources import RawRecord
from tests.audit.audited import AccountingAdapter, AccountingDialect, AuditBench
from tests.workbench import lines


@pytest.fixture
def bench(quick_tmp: Path) -> AuditBench:
    return AuditBench(quick_tmp)


@pytest.fixture
def small(quick_tmp: Path) -> AuditBench:
    """Each file holds two records."""
    bench = AuditBench(quick_tmp, max_file_bytes=400)
    bench.write("s.jsonl", lines(1, 6, width=40))
    bench.collect()
    assert len(list(bench.root.rglob("*.sd"))) == 3
    return bench


def test_what_was_collected_is_clean_and_adds_up(bench: AuditBench) -> None:
    data = (
        b"\xef\xbb\xbf"  # a BOM
        b'{"a": 1}\r\n'  # white space and CRLF
        b"\n \t\r\n"  # two blank lines
        b"not JSON\n"
        b"\xff\xfe\n"
        b'{"b":2}\n'
        b'{"half'
    )
    bench.write("s.jsonl", data)
    bench.write("d.doc.json", b'{"x":[1, 2]}\n\n')
    bench.collect()
    audit, sources = bench.audit()
    assert [source.findings for source in sources] == [[], []]
    document, transcript = sources
    # "not JSON", the two bytes that are no UTF-8, and the BOM, which this dialect does not know
    unknown = len(b'\xef\xbb\xbf{"a": 1}') + 8 + 2
    assert transcript.sums.account == Account(
        part=7, unknown=unknown, syntax=len(data) - 6 - 7 - unknown
    )
    assert (transcript.sums.pending, transcript.sums.size) == (6, len(data))
    assert document.sums.account == Account(part=11, syntax=3)
    assert audit.total.size == len(data) + 14 and audit.total.difference == 0
    assert (audit.sources, audit.records, audit.landed, audit.compared) == (2, 5, 5, 5)
    assert set(audit.totals) == {("Plain", "transcript"), ("Plain", "workflow_manifest")}


def test_no_state_store_is_needed_and_nothing_is_written(bench: AuditBench) -> None:
    bench.write("s.jsonl", lines(1, 3))
    bench.collect()
    bench.forget_state()
    before = sorted((path, path.stat().st_mtime_ns) for path in bench.root.rglob("*"))
    assert bench.findings() == []
    assert sorted((path, path.stat().st_mtime_ns) for path in bench.root.rglob("*")) == before
    assert not bench.state.exists()


def test_a_changed_part_of_a_landed_record_differs(bench: AuditBench) -> None:
    bench.write("s.jsonl", lines(1, 3))
    bench.collect()
    bench.tamper(b'"n":2', b'"n":7')
    assert bench.findings() == [("differs", 2, 1)]


def test_a_changed_digest_is_a_mismatch(bench: AuditBench) -> None:
    bench.write("s.jsonl", lines(1, 3))
    bench.collect()
    sha = bench.landed().read_bytes().split(b'"sha":"')[2][:12]
    bench.tamper(sha, b"0" * 12)
    # What record 3 was converted after is not proven any more, and its line is as it should be.
    assert bench.findings() == [("mismatch", 2, 1), ("unproven", 3, 1)]


def test_a_changed_offset_or_size_is_found(bench: AuditBench) -> None:
    bench.write("s.jsonl", lines(1, 2) + b"[]\n")
    bench.collect()
    bench.tamper(b'"ord":3,"off":36', b'"ord":3,"off":35')
    assert bench.findings() == [("place", 3, 1)]
    bench.tamper(b'"off":35', b'"off":36')
    bench.tamper(b'"bytes":2,', b'"bytes":3,')
    assert bench.findings() == [("place", 3, 1)]


def test_a_changed_number_is_one_missing_and_one_too_many(bench: AuditBench) -> None:
    bench.write("s.jsonl", lines(1, 3))
    bench.collect()
    bench.tamper(b'{"ord":3,', b'{"ord":2,')
    found = bench.findings()
    assert ("order", 2, 1) in found and ("behind", 3, 1) in found


def test_a_record_in_two_files_is_found_twice(small: AuditBench) -> None:
    first, second = (small.landed(number).read_bytes().splitlines(True) for number in (1, 2))
    path = small.landed(2)
    path.chmod(0o600)
    path.write_bytes(b"".join([second[0], first[2], *second[1:]]))
    kinds = [(kind, ord_) for kind, ord_, _ in small.findings()]
    assert ("twice", 2) in kinds


def test_a_removed_file_is_missing_records(small: AuditBench) -> None:
    small.landed(2).unlink()
    assert small.findings() == [("missing", 3, 1), ("missing", 4, 1)]


def test_a_removed_last_file_is_records_that_have_not_landed(small: AuditBench) -> None:
    small.landed(3).unlink()
    assert small.findings() == [("behind", 5, 2)]
    assert not small.audit()[0].faults


def test_an_edit_of_the_same_length_is_found(bench: AuditBench) -> None:
    source = bench.write("s.jsonl", lines(1, 4))
    bench.collect()
    source.write_bytes(source.read_bytes().replace(b'"n":2', b'"n":9'))
    assert bench.findings()[0] == ("mismatch", 2, 1)


def test_lines_that_have_not_landed_are_a_note(bench: AuditBench) -> None:
    bench.write("s.jsonl", lines(1, 2))
    bench.collect()
    bench.append("s.jsonl", lines(3, 5) + b'{"half')
    bench.write("new.jsonl", b'{"a":1}\n')
    audit, (new, grown) = bench.audit()
    assert [(f.kind, f.ord, f.records) for f in grown.findings] == [(AuditKind.BEHIND, 3, 3)]
    assert [(f.kind, f.ord, f.records) for f in new.findings] == [(AuditKind.BEHIND, 1, 1)]
    assert (audit.faults, audit.records, audit.landed) == (0, 6, 2)
    assert audit.total.difference == 0 and audit.total.pending == 6


def test_a_source_that_became_shorter_is_a_note(bench: AuditBench) -> None:
    source = bench.write("s.jsonl", lines(1, 4))
    bench.collect()
    os.truncate(source, len(lines(1, 2)) + 5)
    audit, (found,) = bench.audit()
    assert [(f.kind, f.ord, f.records) for f in found.findings] == [(AuditKind.SHORTER, 3, 2)]
    assert (audit.faults, found.sums.pending, audit.total.difference) == (0, 5, 0)


def test_a_rewritten_source_is_clean_once_it_is_collected(bench: AuditBench) -> None:
    source = bench.write("s.jsonl", lines(1, 5))
    bench.collect()
    source.write_bytes(lines(1, 2) + b'{"n":"other"}\n' + lines(4, 7))
    bench.collect()
    audit, (found,) = bench.audit()
    kinds = {f.kind for f in found.findings}
    assert audit.faults == 0 and kinds <= {AuditKind.MOVED, AuditKind.UNPROVEN}
    assert (found.records, found.landed) == (7, 7)
    source.write_bytes(lines(1, 5))
    bench.collect()
    assert ("reverted", 3, 1) in bench.findings()
    assert bench.audit()[0].faults == 0


def test_every_version_of_a_document_is_known_and_the_newest_compared(bench: AuditBench) -> None:
    source = bench.write("a.doc.json", b'{"v":1}')
    bench.collect()
    for version in (b'{"v":2}', b'{"v":1}'):
        source.write_bytes(version)
        bench.collect()
    assert len(list(bench.root.rglob("*.sd"))) == 3
    assert bench.findings() == []
    source.write_bytes(b'{"v":3}')
    assert bench.findings() == [("behind", 1, 1)]
    bench.collect()
    bench.tamper(b'{"v":3}', b'{"v":4}', 4)
    assert bench.findings() == [("differs", 1, 1)]


def test_a_final_line_without_its_end_is_compared_like_any(bench: AuditBench) -> None:
    bench.write("s.jsonl", lines(1, 2) + b'{"n":3}\r')
    bench.collect(final=True)
    audit, (found,) = bench.audit()
    assert (found.records, found.compared, found.sums.pending, found.findings) == (3, 3, 0, [])
    bench.append("s.jsonl", b"\n" + lines(4, 4))
    bench.collect()
    audit, (found,) = bench.audit()
    assert (found.records, found.compared, found.findings) == (4, 4, [])
    assert audit.total.difference == 0


def test_a_long_record_is_compared_in_pieces(quick_tmp: Path) -> None:
    bench = AuditBench(quick_tmp)
    bench.config = msgspec.structs.replace(
        bench.config, limits=msgspec.structs.replace(bench.config.limits, convert_bytes=1000)
    )
    bench.write("s.jsonl", lines(1, 1) + lines(2, 2, width=5000) + lines(3, 3) + b"\xff" * 3000)
    bench.collect(final=True)
    audit, (found,) = bench.audit()
    assert (found.compared, found.findings, audit.total.difference) == (4, [], 0)
    assert found.sums.account.unknown == len(lines(2, 2, width=5000)) - 1 + 3000
    bench.tamper(b'xx\\"}', b'xy\\"}')
    assert bench.findings() == [("differs", 2, 1)]


def test_sources_that_are_gone_are_counted(bench: AuditBench) -> None:
    source = bench.write("s.jsonl", lines(1, 2))
    bench.write("t.jsonl", lines(1, 2))
    bench.collect()
    source.unlink()
    audit, sources = bench.audit()
    assert (audit.gone, audit.faults, [s.src for s in sources]) == (1, 0, ["t.jsonl"])


def test_a_moved_source_is_audited_with_what_landed_before(bench: AuditBench) -> None:
    source = bench.write("a/s.jsonl", lines(1, 2))
    bench.collect()
    moved = bench.sources / "b" / "s.jsonl"
    moved.parent.mkdir()
    source.rename(moved)
    audit, (found,) = bench.audit()
    assert (audit.moved, audit.gone, found.landed, found.findings) == (1, 0, 2, [])
    bench.append("b/s.jsonl", lines(3, 4))
    bench.collect()
    again = bench.sources / "c" / "s.jsonl"
    again.parent.mkdir()
    moved.rename(again)
    bench.append("c/s.jsonl", lines(5, 6))
    bench.collect()
    audit, (found,) = bench.audit()
    assert (audit.moved, audit.gone, found.landed, found.findings) == (2, 0, 6, [])


def test_a_file_with_two_names_is_read_once(bench: AuditBench) -> None:
    source = bench.write("s.jsonl", lines(1, 2))
    bench.collect()
    (bench.sources / "a.jsonl").hardlink_to(source)
    (bench.sources / "t.jsonl").symlink_to(source)
    audit, sources = bench.audit()
    assert (audit.links, [s.src for s in sources], audit.faults) == (2, ["s.jsonl"], 0)


def test_a_path_or_a_session_narrows(bench: AuditBench) -> None:
    bench.write("a/s.jsonl", lines(1, 2))
    bench.write("b/t.jsonl", lines(1, 3))
    gone = bench.write("b/u.jsonl", lines(1, 3))
    bench.collect()
    bench.write("b/new.jsonl", lines(1, 1))
    gone.unlink()
    audit, sources = bench.audit(bench.sources / "a")
    assert ([s.src for s in sources], audit.gone, audit.faults) == (["a/s.jsonl"], 0, 0)
    audit, sources = bench.audit(folder=bench.root / "t")
    assert ([s.src for s in sources], audit.gone, audit.faults) == (["b/t.jsonl"], 0, 0)


def test_a_root_that_was_given_by_hand_is_remembered(quick_tmp: Path) -> None:
    bench = AuditBench(quick_tmp)
    elsewhere = quick_tmp / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "s.jsonl").write_bytes(lines(1, 2))
    bench.write("s.jsonl", lines(1, 1))
    bench.collect()
    from collectord.pipeline import assemble, collect_once

    with assemble(bench.surroundings(elsewhere)) as assembly:
        collect_once(assembly)
    audit, sources = bench.audit()
    assert [s.landed for s in sources] == [1, 2] and not audit.faults
    shutil.rmtree(elsewhere)
    assert bench.audit()[0].gone == 1


def test_a_source_that_names_no_session_is_said_so(bench: AuditBench) -> None:
    bench.write("open-1.jsonl", b'{"a":1}\n')
    bench.collect()
    audit, (found,) = bench.audit()
    assert {f.kind for f in found.findings} == {AuditKind.UNIDENTIFIED, AuditKind.BEHIND}
    assert audit.faults == 0 and audit.total.difference == 0


def test_what_another_version_converted_is_not_compared(bench: AuditBench) -> None:
    bench.write("s.jsonl", lines(1, 2))
    bench.collect()

    class Newer(AccountingAdapter):
        version = "0.2.0"

    bench.adapter = Newer
    bench.append("s.jsonl", lines(3, 3))
    bench.collect()
    audit, (found,) = bench.audit()
    assert [(f.kind, f.ord, f.records) for f in found.findings] == [(AuditKind.VERSION, 1, 2)]
    assert "plain-local/0.1.0" in found.findings[0].text
    assert (found.landed, found.compared, audit.faults) == (3, 1, 0)


def test_sums_that_do_not_add_up_are_said_so(bench: AuditBench) -> None:
    class Forgetful(AccountingDialect):
        def convert(
            self, raw: RawRecord, source: Source, context: Context, *, audit: bool = False
        ) -> Converted:
            converted = super().convert(raw, source, context, audit=audit)
            return converted._replace(account=Account(part=raw.size - 2) if audit else None)

    class Adapter(AccountingAdapter):
        dialect = Forgetful()

    bench.adapter = Adapter
    bench.write("s.jsonl", lines(1, 3))
    bench.collect()
    assert [kind for kind, _, _ in bench.findings()] == ["account"] * 4
    assert bench.audit()[0].total.difference == 6


def test_a_dialect_that_fails_is_audited_as_it_lands(bench: AuditBench) -> None:
    class Failing(AccountingDialect):
        def convert(
            self, raw: RawRecord, source: Source, context: Context, *, audit: bool = False
        ) -> Converted:
            if raw.ord == 2:
                raise ZeroDivisionError
            return super().convert(raw, source, context, audit=audit)

    class Adapter(AccountingAdapter):
        dialect = Failing()

    bench.adapter = Adapter
    bench.write("s.jsonl", lines(1, 3))
    bench.collect()
    audit, (found,) = bench.audit()
    assert (found.compared, found.findings, audit.total.difference) == (3, [], 0)
    assert found.sums.account.unknown == len(lines(2, 2)) - 1


def test_the_page_names_every_finding_and_whether_it_is_a_fault() -> None:
    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (yes|no) \|", page, re.MULTILINE))
    assert rows == {kind.value: "no" if kind in NOTES else "yes" for kind in AuditKind}
    for name in Account._fields:
        assert f"| `{name}` |" in page
