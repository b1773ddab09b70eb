import pytest

from arena.endpoints.keys import KeyMissingError, key_is_set, read_key, redact

KEY = "sk-0123456789"


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n")
    path.chmod(0o600)
    return path


def test_the_key_comes_from_the_named_variable():
    assert read_key("JUDGE_KEY", "", {"JUDGE_KEY": f" {KEY}\n"}) == KEY


def test_the_key_comes_from_the_named_file(key_file):
    assert read_key("", str(key_file), {}) == KEY


def test_an_endpoint_that_names_none_has_no_key():
    assert read_key("", "", {"JUDGE_KEY": KEY}) == ""
    assert not key_is_set("", "", {})


@pytest.mark.parametrize("environment", [{}, {"JUDGE_KEY": ""}, {"JUDGE_KEY": "  "}])
def test_a_variable_that_is_not_set_is_told(environment):
    with pytest.raises(KeyMissingError, match="JUDGE_KEY is not set"):
        read_key("JUDGE_KEY", "", environment)
    assert not key_is_set("JUDGE_KEY", "", environment)


@pytest.mark.parametrize("value", ["two words", "line\nline", "schlüssel", "a\tb", "x" * 2001, "a\x00b"])
def test_what_is_no_key_is_refused_without_showing_it(value):
    with pytest.raises(KeyMissingError, match="holds no key") as refused:
        read_key("JUDGE_KEY", "", {"JUDGE_KEY": value})
    assert value not in str(refused.value)


def test_tiltyards_own_secrets_are_never_read_as_a_key():
    for variable, secrets in [("SECRET_KEY", []), ("DATABASE_URL", []), ("JUDGE_KEY", [KEY])]:
        with pytest.raises(KeyMissingError, match="never sent anywhere") as refused:
            read_key(variable, "", {variable: KEY}, secrets=secrets)
        assert KEY not in str(refused.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_file_that_others_can_read_is_refused(key_file, mode):
    key_file.chmod(mode)
    with pytest.raises(KeyMissingError, match="mode 0600"):
        read_key("", str(key_file), {})


def test_a_file_that_is_missing_empty_relative_or_a_folder_is_refused(key_file, tmp_path):
    empty = tmp_path / "empty.key"
    empty.touch(mode=0o600)
    folder = tmp_path / "folder.key"
    folder.mkdir()
    for path, words in [
        (tmp_path / "missing.key", "No such file"),
        (empty, "is empty"),
        ("key", "absolute path"),
        (folder, "can't be read"),
    ]:
        with pytest.raises(KeyMissingError, match=words):
            read_key("", str(path), {})


def test_a_key_is_masked_wherever_it_stands():
    assert redact(f"Bearer {KEY}, {KEY}!", KEY) == "Bearer [key], [key]!"
    assert redact("none of it", "") == "none of it"
    assert redact("x marks a placeholder", "x") == "x marks a placeholder"
